// How many floating-point operations the update of a cell is: of each collision, stencil and state the update itself
// says so, carried out with numbers that count what is done with them.
#pragma once

#include "../backend/kinds.h"
#include "../lattice/multispeed_relaxation.h"

namespace lbm::engine {

/// The operations of a cell in a step. A negation is none, as it goes into the addition or product that follows; a
/// fused multiply-add is two.
struct Operations {
    int sums = 0, products = 0, quotients = 0, roots = 0;

    int all() const { return sums + products + quotients + roots; }
};

/// What of an update's operations depends on the setup.
struct CountedUpdate {
    backend::StencilKind stencil;
    backend::CollisionKind collision;
    bool forced;
    bool keeps_moments;                // in place of populations
    RelaxationTimes relaxation_times;  // of the multispeed model
};

/// Counts those of an update without an eddy viscosity, of the compressible equilibrium; those of the temperature of
/// the hybrid model are not among them. Throws std::invalid_argument for a collision that does not go with the stencil,
/// or not with moments.
Operations operations_of(const CountedUpdate& update);

}  // namespace lbm::engine
