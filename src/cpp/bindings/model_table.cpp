// Binds the table of the models as Python dicts.
#include <pybind11/stl.h>

#include "../engine/models.h"
#include "bindings.h"

namespace lbm::bindings {

void bind_models(py::module_& module) {
    module.def("models", [] {
        py::dict table;
        for (const engine::ModelFacts& facts : engine::models()) {
            py::dict model;
            model["stencils"] = facts.stencils;
            model["smallest_size"] = facts.smallest_size;
            model["numbers"] = facts.numbers;
            model["streamings"] = facts.streamings;
            model["faces"] = facts.faces;
            model["thermal_faces"] = facts.thermal_faces;
            model["bodies"] = facts.bodies;
            model["nonequilibrium"] = facts.nonequilibrium;
            model["fields"] = facts.fields;
            model["drives"] = facts.drives;
            model["temperature"] = facts.temperature == TemperatureKind::None    ? "none"
                                   : facts.temperature == TemperatureKind::Field ? "field"
                                                                                 : "moment";
            table[facts.name.c_str()] = model;
        }
        return table;
    });
}

}  // namespace lbm::bindings
