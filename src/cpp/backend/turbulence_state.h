// The additional interface of blocks whose fluid has an eddy viscosity.
#pragma once

#include "../lattice/portability.h"

namespace lbm::backend {

/// An eddy viscosity of velocity gradients is renewed before each step whose number is a multiple of
/// BlockSpec::refresh_every, from the velocities that the step before has kept, and holds until the next time. One of
/// the local stress (BlockSpec::has_eddy_viscosity) is computed by the collision, and the state is all that it needs.
class TurbulenceState {
public:
    TurbulenceState() = default;
    TurbulenceState(const TurbulenceState&) = delete;
    TurbulenceState& operator=(const TurbulenceState&) = delete;
    virtual ~TurbulenceState() = default;

    /// Sets the number of steps that have been completed.
    virtual void set_steps(Index steps) = 0;
    /// Computes the velocities from a state that was set; the eddy viscosity is renewed before the next step, whatever
    /// its number.
    virtual void start_velocity() = 0;
    /// What has to be kept for the next step: the D components of the velocity if it renews the eddy viscosity, else
    /// that. Solid cells have 0.
    virtual void kept(double* out) const = 0;
    virtual void set_kept(const double* values) = 0;
    /// The eddy viscosity of the next step, once boundaries and halos have been applied; 0 in solid cells.
    virtual void eddy_viscosity(float* out) const = 0;
    virtual void eddy_viscosity(double* out) const = 0;
};

}  // namespace lbm::backend
