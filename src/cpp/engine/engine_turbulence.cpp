// The engine's members for the eddy viscosity: the field, and what of it is kept from step to step.
#include <stdexcept>

#include "engine.h"

namespace lbm::engine {

void Engine::check_eddy_viscosity() const {
    if (!spec_.has_eddy_viscosity && spec_.turbulence == backend::no_turbulence) {
        throw std::invalid_argument("eddy viscosity: the fluid has none, as no turbulence model was set up");
    }
}

void Engine::prepare_velocity() {
    prepare();
    for (backend::BlockState* state : states_) {
        if (backend::TurbulenceState* turbulence = state->turbulence()) {
            turbulence->set_steps(steps_);
            if (!velocity_is_current_) {
                turbulence->start_velocity();
                halos_are_current_ = false;
            }
        }
    }
    velocity_is_current_ = true;
}

void Engine::prepare_eddy_viscosity() {
    check_eddy_viscosity();
    supply_incoming();
}

int Engine::kept_turbulence_count() const {
    if (!backend::keeps_velocity(spec_)) {
        return 0;
    }
    return steps_ % spec_.refresh_every == 0 ? domain_.D : 1;
}

void Engine::kept_turbulence(double* out) {
    supply_incoming();
    read_parts(out, kept_turbulence_count(), [](auto& block, double* part) { block.turbulence()->kept(part); });
}

void Engine::set_kept_turbulence(const double* values) {
    if (!backend::keeps_velocity(spec_)) {
        throw std::invalid_argument("kept turbulence: nothing is taken of velocity gradients");
    }
    prepare_velocity();
    give_parts(values, window_, kept_turbulence_count(),
               [](auto& block, const double* part) { block.turbulence()->set_kept(part); });
    halos_are_current_ = false;
}

}  // namespace lbm::engine
