// What an initial state is given: density, velocity and temperature, each uniform or a field.
#pragma once

#include <optional>

namespace lbm::engine {

/// Fields cover Engine::initial_box; they are null where the quantity is uniform.
struct InitialValues {
    const double* density = nullptr;
    const double* velocity = nullptr;  // D components
    const double* temperature = nullptr;
    double uniform_density = 1;
    double uniform_velocity[3] = {0, 0, 0};
    std::optional<double> uniform_temperature = std::nullopt;  // that at rest
};

}  // namespace lbm::engine
