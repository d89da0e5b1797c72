// The extension module lbmgpu._core.
#include "bindings.h"

PYBIND11_MODULE(_core, module) {
    lbm::bindings::bind_stencil(module);
    lbm::bindings::bind_models(module);
    lbm::bindings::bind_machine(module);
    lbm::bindings::bind_communicator(module);
    lbm::bindings::bind_engine(module);
    lbm::bindings::bind_engine_group(module);
    lbm::bindings::bind_statistics(module);
    lbm::bindings::bind_cuda(module);
    lbm::bindings::bind_custom(module);
    lbm::bindings::bind_device_array(module);
    lbm::bindings::bind_geometry(module);
}
