// What an initial state is given: density, velocity and temperature, each uniform or a field.
#pragma once

#include <optional>

#include "../backend/gpu_inputs.h"

namespace lbm::engine {

/// Fields cover Engine::initial_box; they are null where the quantity is uniform, or an array in a GPU's memory.
struct InitialValues {
    const double* density = nullptr;
    const double* velocity = nullptr;  // D components
    const double* temperature = nullptr;
    backend::GpuFields arrays{};  // null where the quantity is uniform or of the host
    double uniform_density = 1;
    double uniform_velocity[3] = {0, 0, 0};
    std::optional<double> uniform_temperature = std::nullopt;  // that at rest
};

}  // namespace lbm::engine
