// Binds fields in a GPU's memory, which other libraries read by the CUDA array interface or as DLPack capsules.
#include "../backend/device_array.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "../engine/engine.h"
#include "bindings.h"
#include "construction.h"
#include "dlpack.h"
#include "no_gil.h"

namespace lbm::bindings {
namespace {

using backend::DeviceArray;

/// A field with its shape as users index it: [component, x, y, z].
struct DeviceField {
    std::shared_ptr<DeviceArray> array;
    std::vector<long long> shape, strides;
};

struct Shared {
    DeviceField field;
    DlManagedTensor managed;
};

void destroy(DlManagedTensor* managed) { delete static_cast<Shared*>(managed->context); }

py::capsule dlpack(const DeviceField& field, const py::object&) {
    auto* shared = new Shared{field, {}};
    const int bits = int(8 * field.array->item());
    shared->managed = {{field.array->data(),
                        {2, field.array->ordinal()},
                        int(shared->field.shape.size()),
                        {2, static_cast<unsigned char>(bits), 1},
                        shared->field.shape.data(),
                        shared->field.strides.data(),
                        0},
                       shared,
                       &destroy};
    return py::capsule(&shared->managed, "dltensor", [](PyObject* capsule) {
        if (PyCapsule_IsValid(capsule, "dltensor") != 0) {  // a consumer renames the capsule and owns it
            auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
            managed->destroy(managed);
        }
    });
}

py::dict cuda_array_interface(const DeviceField& field) {
    const auto item = static_cast<long long>(field.array->item());
    py::tuple shape(field.shape.size()), strides(field.shape.size());
    for (std::size_t k = 0; k < field.shape.size(); ++k) {
        shape[k] = field.shape[k];
        strides[k] = field.strides[k] * item;
    }
    py::dict interface;
    interface["version"] = 3;
    interface["shape"] = shape;
    interface["strides"] = strides;
    interface["typestr"] = item == 8 ? "<f8" : "<f4";
    interface["data"] = py::make_tuple(reinterpret_cast<std::uintptr_t>(field.array->data()), false);
    return interface;
}

}  // namespace

void bind_device_array(py::module_& module) {
    py::class_<DeviceField> device_array(module, "DeviceArray");
    forbid_new(device_array);
    device_array.def("__dlpack__", &dlpack, py::kw_only(), py::arg("stream") = py::none())
        .def("__dlpack_device__", [](const DeviceField& f) { return py::make_tuple(2, f.array->ordinal()); })
        .def_property_readonly("__cuda_array_interface__", &cuda_array_interface)
        .def_property_readonly("shape", [](const DeviceField& f) { return py::tuple(py::cast(f.shape)); })
        .def_property_readonly("ndim", [](const DeviceField& f) { return f.shape.size(); });
    module.def(
        "device_field",
        [](engine::Engine& e, int name, double reference) {
            if (name < 0 || name > int(backend::FieldName::Temperature)) {
                throw py::index_error("there is no field " + std::to_string(name));
            }
            DeviceField field;
            {
                const NoGil release;
                const std::lock_guard<process::Mutex> lock(e.mutex());
                field.array = e.device_field(backend::FieldName(name), reference);
            }
            long long stride = 1;
            for (int d = 0; d < e.domain().D; ++d) {
                field.shape.push_back(e.domain().size[d]);
                field.strides.push_back(stride);
                stride *= e.domain().size[d];
            }
            if (field.array->components() > 0) {
                field.shape.insert(field.shape.begin(), field.array->components());
                field.strides.insert(field.strides.begin(), stride);
            }
            return field;
        },
        py::arg("engine"), py::arg("name"), py::arg("reference") = 0.0);
}

}  // namespace lbm::bindings
