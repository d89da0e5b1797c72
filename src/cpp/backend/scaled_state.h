// The additional interface of blocks to what changes in time by factors.
#pragma once

#include "../lattice/portability.h"

namespace lbm::backend {

class ScaledState {
public:
    ScaledState() = default;
    ScaledState(const ScaledState&) = delete;
    ScaledState& operator=(const ScaledState&) = delete;
    virtual ~ScaledState() = default;

    /// Sets the factors of `rows` updates, `series` numbers for each, which are copied.
    virtual void set_factors(const double* factors, Index rows, int series) = 0;
    /// Makes the next update that of a row. Each update then goes on to the row after its own.
    virtual void set_row(Index row) = 0;
    /// Sets the factor of the block's force, if that is scaled, until a row is set.
    virtual void set_force_factor(double factor) = 0;
};

}  // namespace lbm::backend
