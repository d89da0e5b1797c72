// Binds the statistics of cells, which an engine samples by itself.
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <string>

#include "../engine/statistics_sampler.h"
#include "bindings.h"
#include "engine_arrays.h"

namespace lbm::bindings {

using engine::StatisticsSampler;

namespace {

backend::SummedAxes summed_axes(const Engine& e, const std::string& over) {
    backend::SummedAxes axes{};
    for (const char axis : over) {
        const int d = axis - 'x';
        if (d < 0 || d >= e.domain().D) {
            throw std::invalid_argument("over: '" + over + "' given, must be names of axes of the domain");
        }
        axes.axis[d] = true;
    }
    return axes;
}

py::array_t<double> numbers_of(const StatisticsSampler& s, int slot) {
    py::array_t<double> out(window_shape(s.engine(), 0));
    double* data = out.mutable_data();
    std::fill(data, data + out.size(), 0.0);  // cells of other processes
    const InUse use(s.engine());
    s.get(slot, data);
    return out;
}

py::array_t<Index> sums_of(const StatisticsSampler& s, int slot, const std::string& over) {
    const Engine& e = s.engine();
    const backend::SummedAxes axes = summed_axes(e, over);
    std::vector<Index> sums;
    {
        const InUse use(e);
        sums = s.sums(slot, axes);
    }
    std::vector<py::ssize_t> shape;
    for (int d = e.domain().D - 1; d >= 0; --d) {
        if (!axes.axis[d]) {
            shape.push_back(e.window().size[d]);
        }
    }
    shape.push_back(backend::FixedPoint::words);
    py::array_t<Index> out(shape);
    std::copy(sums.begin(), sums.end(), out.mutable_data());
    return out;
}

}  // namespace

void bind_statistics(py::module_& module) {
    py::class_<StatisticsSampler, std::shared_ptr<StatisticsSampler>>(
        module, "CellStatistics", "Statistics of an engine's cells, which it samples after some of its steps.")
        .def(py::init([](Engine& e, Index every, Index start) {
                 const InUse use(e);
                 auto sampler = std::make_shared<StatisticsSampler>(e, every, start);
                 e.add_sampler(sampler);
                 return sampler;
             }),
             py::arg("engine"), py::arg("every"), py::arg("start"), py::keep_alive<1, 2>())
        .def(
            "remove",
            [](const std::shared_ptr<StatisticsSampler>& s) {
                const InUse use(s->engine());
                s->engine().remove_sampler(s);
                s->choose(0);
            },
            "Takes no more samples, and drops all slots.")
        .def_property(
            "samples",
            [](const StatisticsSampler& s) {
                const InUse use(s.engine());
                return s.samples();
            },
            [](StatisticsSampler& s, Index samples) {
                const InUse use(s.engine());
                s.set_samples(samples);
            })
        .def(
            "choose",
            [](StatisticsSampler& s, std::uint32_t slots) {
                const InUse use(s.engine());
                s.choose(slots);
            },
            py::arg("slots"), "Keeps the slots whose bits are set, drops the others, adds new ones.")
        .def("reset",
             [](StatisticsSampler& s) {
                 const InUse use(s.engine());
                 s.reset();
             })
        .def("get", &numbers_of, py::arg("slot"), "The numbers of a slot, of the local subdomain.")
        .def(
            "set",
            [](StatisticsSampler& s, int slot, const Doubles& values) {
                require_shape("values", values, window_shape(s.engine(), 0));
                const double* data = values.data();
                const InUse use(s.engine());
                s.set(slot, data);
            },
            py::arg("slot"), py::arg("values"))
        .def("sums", &sums_of, py::arg("slot"), py::arg("over"),
             "The sums of a slot over axes, in three words of units 2^-11, 2^-43 and 2^-75.")
        .def_property_readonly("bytes", [](const StatisticsSampler& s) {
            const InUse use(s.engine());
            return s.bytes();
        });
}

}  // namespace lbm::bindings
