// Binds the communicator over MPI and its exchanges of NumPy arrays.
#include <pybind11/stl.h>

#include <tuple>
#include <utility>

#include "../engine/processes.h"
#include "arrays.h"
#include "bindings.h"
#include "construction.h"
#include "no_gil.h"

namespace lbm::bindings {
namespace {

using engine::Communicator;
using engine::Message;

/// An array, the other rank and the tag.
using ArrayMessage = std::tuple<py::array, int, int>;

/// An exchange together with the arrays that it reads and writes, which it keeps alive.
struct ArrayExchange {
    std::vector<py::array> arrays;
    std::unique_ptr<engine::Exchange> exchange;
};

Message message_of(const char* name, const ArrayMessage& given, bool written, ArrayExchange& owner) {
    const auto& [array, rank, tag] = given;
    if ((array.flags() & py::array::c_style) == 0) {
        throw std::invalid_argument(std::string(name) + ": C-contiguous arrays are needed");
    }
    if (array.dtype().attr("hasobject").cast<bool>()) {  // pointers mean nothing in another process
        throw std::invalid_argument(std::string(name) + ": arrays of numbers are needed");
    }
    if (written) {
        require_writeable(name, array);
    }
    owner.arrays.push_back(array);
    void* data = py::detail::array_proxy(array.ptr())->data;  // written by receives only
    return {data, std::size_t(array.nbytes()), rank, tag};
}

ArrayExchange exchange(const Communicator& comm, const std::vector<ArrayMessage>& receives,
                       const std::vector<ArrayMessage>& sends) {
    ArrayExchange made;
    std::vector<Message> in, out;
    for (const ArrayMessage& given : receives) {
        in.push_back(message_of("receives", given, true, made));
    }
    for (const ArrayMessage& given : sends) {
        out.push_back(message_of("sends", given, false, made));
    }
    const NoGil release;
    made.exchange = comm.exchange(in, out);
    return made;
}

}  // namespace

// MPI is always called without the GIL, as other threads of a rank may have to run before other ranks answer.
void bind_communicator(py::module_& module) {
    using Guard = py::call_guard<NoGil>;
    py::class_<ArrayExchange> exchange_class(module, "Exchange");
    forbid_new(exchange_class);
    exchange_class
        .def(
            "start_receives", [](ArrayExchange& e) { e.exchange->start_receives(); }, Guard())
        .def(
            "start_sends", [](ArrayExchange& e) { e.exchange->start_sends(); }, Guard())
        .def(
            "finish", [](ArrayExchange& e) { e.exchange->finish(); }, Guard());
    py::class_<Communicator, std::shared_ptr<Communicator>> communicator(module, "Communicator");
    forbid_new(communicator);
    communicator.def_property_readonly("rank", &Communicator::rank)
        .def_property_readonly("size", &Communicator::size)
        .def_property_readonly("library", &Communicator::library_version)
        .def_property_readonly("cuda_aware", &Communicator::cuda_aware)
        .def(
            "sum",
            [](const Communicator& comm, std::vector<double> values) {
                comm.sum(values.data(), int(values.size()));
                return values;
            },
            py::arg("values"), Guard())
        .def("maximum", &Communicator::maximum, py::arg("value"), Guard())
        .def("all_gather", &Communicator::all_gather, py::arg("own"), Guard())
        .def("barrier", &Communicator::barrier, Guard())
        .def("exchange", &exchange, py::arg("receives"), py::arg("sends"));
    module.def(
        "mpi_communicator",
        [](const std::string& path, int handle, std::string host) {
            std::shared_ptr<Communicator> made = engine::make_mpi(path, handle);
            made->pretend_host(std::move(host));
            return made;
        },
        py::arg("path"), py::arg("handle"), py::arg("host") = "", Guard());
}

}  // namespace lbm::bindings
