// Binds stencils and their moment bases as data, and the names of boundary conditions and collisions.
#include <pybind11/stl.h>

#include <algorithm>
#include <stdexcept>

#include "../engine/operation_count.h"
#include "../engine/setup.h"
#include "../lattice/moment_basis.h"
#include "arrays.h"
#include "bindings.h"
#include "construction.h"

namespace lbm::bindings {
namespace {

struct StencilData {
    std::string name;
    int D, Q, radius;
    double cs2;
    py::array_t<int> c, opposite, moment_matrix;
    py::array_t<double> w;
    std::vector<std::string> moment_names, moment_groups;
    py::dict default_rates;
};

template <class S>
void add_basis(StencilData& data) {
    using Basis = MomentBasis<S>;
    for (int i = 0; i < S::Q; ++i) {
        for (int k = 0; k < S::Q; ++k) {
            data.moment_matrix.mutable_at(k, i) = Moment<S>::value(k, i);
        }
        data.moment_names.emplace_back(Basis::name[i]);
        data.moment_groups.emplace_back(Basis::group[Basis::group_of[i]].name);
    }
    for (int g = 2; g < Basis::groups; ++g) {
        const double preset = Basis::group[g].preset;
        data.default_rates[Basis::group[g].name] =
            preset == follows_viscosity ? py::none() : py::object(py::float_(preset));
    }
}

template <class S>
StencilData data_of() {
    using T = Stencil<S>;
    StencilData data{S::name,
                     S::D,
                     S::Q,
                     S::radius,
                     T::cs2,
                     py::array_t<int>({S::Q, S::D}),
                     py::array_t<int>(S::Q),
                     py::array_t<int>({S::Q, S::Q}),
                     py::array_t<double>(S::Q),
                     {},
                     {},
                     {}};
    for (int i = 0; i < S::Q; ++i) {
        for (int d = 0; d < S::D; ++d) {
            data.c.mutable_at(i, d) = S::c[i][d];
        }
        data.w.mutable_at(i) = T::w(i);
        data.opposite.mutable_at(i) = T::opposite(i);
    }
    if constexpr (T::multispeed) {  // multispeed stencils have no moment basis
        data.moment_matrix = py::array_t<int>(std::vector<py::ssize_t>{0, S::Q});
    } else {
        add_basis<S>(data);
    }
    return data;
}

}  // namespace

void bind_stencil(py::module_& module) {
    py::class_<StencilData> stencil(module, "Stencil");
    forbid_new(stencil);
    stencil.def_readonly("name", &StencilData::name)
        .def_readonly("D", &StencilData::D)
        .def_readonly("Q", &StencilData::Q)
        .def_readonly("cs2", &StencilData::cs2)
        .def_readonly("radius", &StencilData::radius)
        .def_readonly("c", &StencilData::c)
        .def_readonly("w", &StencilData::w)
        .def_readonly("opposite", &StencilData::opposite)
        .def_readonly("moment_names", &StencilData::moment_names)
        .def_readonly("moment_groups", &StencilData::moment_groups)
        .def_readonly("moment_matrix", &StencilData::moment_matrix)
        .def_property_readonly("default_rates",
                               [](const StencilData& s) { return py::dict(s.default_rates.attr("copy")()); });
    module.def(
        "stencil",
        [](const std::string& name) {
            return backend::with_stencil(engine::stencil_kind(name), [](auto s) { return data_of<decltype(s)>(); });
        },
        py::arg("name"));
    module.def("stencil_names", &backend::names_of<Stencils>);
    module.def("face_conditions", [] {
        py::dict conditions;
        for_types(boundary::Conditions{}, [&](auto member) {
            using Condition = typename decltype(member)::type;
            constexpr const char* words[] = {"", "velocity", "number"};  // by boundary::Value
            conditions[Condition::name] = words[int(Condition::value)];
        });
        return conditions;
    });
    module.def("boundary_numbers", [] {
        py::dict numbers;
        for_types(boundary::Conditions{}, [&](auto member) {
            using Condition = typename decltype(member)::type;
            if constexpr (boundary::has_cell_formula<Condition>) {
                numbers[Condition::name] = Condition::stored;
            }
        });
        return numbers;
    });
    module.def(
        "least_odd_rate",
        [](const std::string& name, double viscosity) {
            return backend::with_stencil(engine::stencil_kind(name), [&](auto s) {
                return CentralMoments::default_least_odd_rate<decltype(s)>(viscosity);
            });
        },
        py::arg("stencil"), py::arg("viscosity"));
    module.def(
        "cell_operations",
        [](const std::string& stencil, const std::string& collision, bool forced, bool moments, bool variable_prandtl,
           bool fourth_order_diffusion) {
            const std::vector<std::string> names = engine::collision_names("");
            const auto found = std::find(names.begin(), names.end(), collision);
            if (found == names.end()) {
                throw std::invalid_argument("collision: there is none of this name");
            }
            const engine::Operations operations = engine::operations_of(
                {engine::stencil_kind(stencil), backend::CollisionKind(found - names.begin()), forced, moments,
                 fourth_order_diffusion ? RelaxationTimes::ThirdAndFourth
                 : variable_prandtl     ? RelaxationTimes::HeatFlux
                                        : RelaxationTimes::One});
            return py::make_tuple(operations.sums, operations.products, operations.quotients, operations.roots);
        },
        py::arg("stencil"), py::arg("collision"), py::kw_only(), py::arg("forced") = false, py::arg("moments") = false,
        py::arg("variable_prandtl") = false, py::arg("fourth_order_diffusion") = false);
    module.def("collision_names", &engine::collision_names, py::arg("stencil") = "");
    module.def("moment_collisions", &engine::moment_collision_names);
    module.def("moment_faces", &engine::moment_faces);
}

}  // namespace lbm::bindings
