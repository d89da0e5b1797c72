// What the models can do, as a table in words that is published, and what follows from it for a setup.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../backend/block_state.h"

namespace lbm::engine {

/// The words of a setup, by the places of what they stand for.
const std::vector<std::string>& number_names();
const std::vector<std::string>& thermal_face_names();

/// Words as a text lists them: 'a', 'b'.
std::string listed(const std::vector<std::string>& names);

/// What goes with a model. Its streamings are in the order of preference, those of less memory first.
struct ModelFacts {
    std::string name;
    std::vector<std::string> stencils;
    std::map<std::string, int> smallest_size;                  // cells along an axis, by stencil
    std::vector<std::pair<std::string, std::string>> numbers;  // precision and storage
    std::vector<std::string> streamings;
    std::vector<std::string> faces;          // conditions of the flow
    std::vector<std::string> thermal_faces;  // conditions of the temperature; empty without one
    int walled_axes;                         // of how many axes faces may be other than periodic
    bool bodies;
    bool nonequilibrium;  // whether initial states may have the first-order part of gradients
    std::vector<std::string> fields;
    std::vector<std::string> drives;
    TemperatureKind temperature;

    bool takes(const std::string& drive) const;
};

const std::vector<ModelFacts>& models();
const ModelFacts& facts_of(const backend::BlockSpec& spec);

/// The model that has a stencil, with a temperature beside the populations or not.
/// Throws std::invalid_argument where there is none.
backend::ModelKind model_of(backend::StencilKind stencil, bool temperature_beside);

/// Throws std::invalid_argument unless stencil, numbers, streaming, sizes and faces go with the model of a whole
/// domain.
void check_model(const backend::BlockSpec& spec, const std::vector<std::string>& faces);
/// Throws std::invalid_argument unless the model is driven by this.
void check_drive(const backend::BlockSpec& spec, const std::string& drive);
/// Throws std::invalid_argument unless the model takes bodies.
void check_bodies(const backend::BlockSpec& spec);

}  // namespace lbm::engine
