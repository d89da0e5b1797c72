// The table of the models in words: what each supports. It is published to Python, and setups are checked against it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../backend/block_state.h"

namespace lbm::engine {

/// The names of number types and of thermal boundary conditions, in the order of their enumerations.
const std::vector<std::string>& number_names();
const std::vector<std::string>& thermal_face_names();

/// Names as error messages list them: 'a', 'b'.
std::string listed(const std::vector<std::string>& names);

/// What a model supports. Its streamings are in the order of preference, those that need less memory first.
struct ModelFacts {
    std::string name;
    std::vector<std::string> stencils;
    std::map<std::string, int> smallest_size;                  // cells along an axis, by stencil
    std::vector<std::pair<std::string, std::string>> numbers;  // precision and storage
    std::vector<std::string> streamings;
    std::vector<std::string> faces;          // conditions of the flow
    std::vector<std::string> thermal_faces;  // conditions of the temperature; empty without one
    bool bodies;
    bool nonequilibrium;  // whether initial states may include the first-order part that follows from gradients
    std::vector<std::string> fields;
    std::vector<std::string> drives;
    TemperatureKind temperature;

    bool takes(const std::string& drive) const;
};

const std::vector<ModelFacts>& models();
const ModelFacts& facts_of(const backend::BlockSpec& spec);

/// The model that has a stencil, with or without a temperature field in addition to the populations (hybrid thermal).
/// Throws std::invalid_argument if there is none.
backend::ModelKind model_of(backend::StencilKind stencil, bool temperature_field);

/// Throws std::invalid_argument unless the model supports the stencil, number types, streaming, size and faces; `spec`
/// is that of the whole domain.
void check_model(const backend::BlockSpec& spec, const std::vector<std::string>& faces);
/// Throws std::invalid_argument unless the model supports this drive, such as "force".
void check_drive(const backend::BlockSpec& spec, const std::string& drive);
/// Throws std::invalid_argument unless the model supports bodies.
void check_bodies(const backend::BlockSpec& spec);

}  // namespace lbm::engine
