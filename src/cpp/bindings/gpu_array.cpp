// Binds arrays of other libraries in a GPU's memory, which DLPack or the CUDA array interface tells of.
#include "gpu_array.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "../backend/gpu_inputs.h"
#include "bindings.h"
#include "construction.h"
#include "dlpack.h"
#include "engine_arrays.h"

namespace lbm::bindings {
namespace {

using backend::GpuArray;
using Numbers = std::vector<long long>;

/// Places an array whose axes are those of the domain, perhaps behind one of components. Strides are in bytes.
GpuArray placed(const void* data, int ordinal, int item, const Numbers& shape, const Numbers& strides, int axes,
                const std::vector<int>& first, double reference) {
    const std::size_t lead = shape.size() - std::size_t(axes);
    if ((axes != 2 && axes != 3) || lead > 1 || strides.size() != shape.size() || first.size() != std::size_t(axes) ||
        (item != 4 && item != 8) || ordinal < 0) {
        throw std::invalid_argument(
            "array: must have the axes of a domain, a component before them or none, and "
            "numbers of 4 or 8 bytes");
    }
    constexpr long long most = 1 << 30;
    const auto is_in_range = [](long long n) { return n > 0 && n <= most; };
    const auto is_aligned = [&](long long stride) { return stride % item == 0; };
    if (!std::all_of(shape.begin(), shape.end(), is_in_range) ||
        !std::all_of(strides.begin(), strides.end(), is_aligned) || (lead == 1 && shape[0] > 3) ||
        reinterpret_cast<std::uintptr_t>(data) % std::uintptr_t(item) != 0) {
        throw std::invalid_argument("array: must not be empty, and have aligned numbers");
    }
    GpuArray array{static_cast<const char*>(data), ordinal, item, lead == 1 ? int(shape[0]) : 0, {1, 1, 1}, {0, 0, 0},
                   lead == 1 ? strides[0] : 0};
    for (std::size_t a = 0; a < std::size_t(axes); ++a) {
        array.size[a] = int(shape[lead + a]);
        array.strides[a] = strides[lead + a];
        array.first[a] = first[a];
    }
    array.reference = reference;
    return array;
}

constexpr std::uintptr_t default_stream = 1;  // CUDA's, as the driver, DLPack and the CUDA array interface number it

/// Takes over the tensor of a capsule, which was asked for with the default stream.
OwnedGpuArray from_dlpack(const py::capsule& capsule, int axes, const std::vector<int>& first, double reference) {
    if (PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0) {
        throw std::invalid_argument("capsule: no unused 'dltensor' of DLPack given");
    }
    auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    const DlTensor& tensor = managed->tensor;
    if ((tensor.device.type != 2 && tensor.device.type != 13) || tensor.type.code != 2 || tensor.type.lanes != 1 ||
        tensor.dimensions < axes) {
        throw std::invalid_argument("capsule: must have floating-point numbers in a GPU's memory");
    }
    const int item = tensor.type.bits / 8;
    Numbers shape(tensor.shape, tensor.shape + tensor.dimensions), strides(shape.size());
    long long dense = item;
    for (std::size_t k = shape.size(); k-- > 0; dense *= shape[k]) {
        strides[k] = tensor.strides == nullptr ? dense : tensor.strides[k] * item;
    }
    const GpuArray array = placed(static_cast<const char*>(tensor.data) + tensor.offset, tensor.device.id, item, shape,
                                  strides, axes, first, reference);
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
    OwnedGpuArray taken{array, axes, {managed, [](void* owned) {
                                          auto* of = static_cast<DlManagedTensor*>(owned);
                                          if (of->destroy != nullptr) {
                                              of->destroy(of);
                                          }
                                      }}};
    const NoGil release;
    backend::wait_for_stream(array.ordinal, default_stream);
    return taken;
}

/// Takes the array at an address, which the caller keeps while it is used, after the work of a stream.
OwnedGpuArray at_address(std::uintptr_t address, int item, const Numbers& shape, const Numbers& strides,
                         std::optional<std::uintptr_t> stream, const std::string& device, int axes,
                         const std::vector<int>& first, double reference) {
    const NoGil release;
    const int ordinal = backend::gpu_of(address, device);
    if (ordinal < 0) {
        throw std::invalid_argument("address: must be in a GPU's memory");
    }
    const GpuArray array =
        placed(std::bit_cast<const void*>(address), ordinal, item, shape, strides, axes, first, reference);
    if (stream) {
        backend::wait_for_stream(ordinal, *stream);
    }
    return {array, axes, {}};
}

/// The least and the largest number, and the longest vector, in a box of the domain; None where a number is not finite.
std::optional<std::tuple<double, double, std::vector<double>>> extremes(const OwnedGpuArray& given,
                                                                        const std::vector<int>& offset,
                                                                        const std::vector<int>& size) {
    int corner[3] = {0, 0, 0}, cells[3] = {1, 1, 1};
    if (offset.size() != size.size() || size.size() > 3 || size.size() < 2 ||
        std::any_of(size.begin(), size.end(), [](int n) { return n < 1; })) {
        throw std::invalid_argument("offset and size: must be of a box of cells");
    }
    std::copy(offset.begin(), offset.end(), corner);
    std::copy(size.begin(), size.end(), cells);
    backend::FieldExtremes found{};
    {
        const NoGil release;
        found = backend::extremes(given.array, corner, cells);
    }
    if (found.is_finite == 0) {
        return std::nullopt;
    }
    const int components = std::max(given.array.components, 1);
    return std::tuple(found.lowest, found.highest, std::vector<double>(found.longest, found.longest + components));
}

/// The numbers of an array as an array of the host, whose first axis is that of components, if there is one.
py::array_t<double> to_host(const OwnedGpuArray& given) {
    py::array_t<double> out(array_shape(given.array.size, given.axes, given.array.components));
    double* data = out.mutable_data();
    {
        const NoGil release;
        backend::copy_to_host(given.array, data);
    }
    return out;
}

/// Reads a field that the blocks of an engine were given from a GPU's memory.
template <class Read>
void read_given(Engine& e, py::array_t<double>& out, int components, Read&& read) {
    require_shape("out", out, window_shape(e, components));
    require_writeable("out", out);
    double* data = out.mutable_data();
    const InUse use(e);
    read(data);
}

}  // namespace

void bind_gpu_arrays(py::module_& module, EngineClass& engine) {
    py::class_<OwnedGpuArray> array(module, "GpuArray");
    forbid_new(array);
    array.def("extremes", &extremes, py::arg("offset"), py::arg("size")).def("to_host", &to_host);
    module.def("gpu_array_of_dlpack", &from_dlpack, py::arg("capsule"), py::arg("axes"), py::arg("first"),
               py::arg("reference") = 0.0);
    module.def("gpu_array_at", &at_address, py::arg("address"), py::arg("item"), py::arg("shape"), py::arg("strides"),
               py::arg("stream"), py::arg("device"), py::arg("axes"), py::arg("first"), py::arg("reference") = 0.0);
    engine
        .def(
            "force_field",
            [](Engine& e, py::array_t<double> out) {
                read_given(e, out, e.domain().D, [&](double* data) { e.force_field(data); });
            },
            py::arg("out").noconvert())
        .def(
            "heat_source_field",
            [](Engine& e, py::array_t<double> out) {
                read_given(e, out, 0, [&](double* data) { e.heat_source_field(data); });
            },
            py::arg("out").noconvert());
}

}  // namespace lbm::bindings
