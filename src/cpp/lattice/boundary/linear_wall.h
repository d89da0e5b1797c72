// Walls of bodies at known distances: what comes off one is linear in three populations of its link, with weights that
// depend on the distance alone. So the host computes them once, whatever the scheme.
#pragma once

#include "../portability.h"

namespace lbm::boundary {

/// The weights of a scheme at a distance: of the returning and of the streamed population, each relative to the
/// outgoing one, and of the wall momentum term.
struct LinearWeights {
    double returning, streamed, momentum;
};

/// The weighted sum of the weights of two schemes.
constexpr LinearWeights weighted_sum(double a, const LinearWeights& first, double b, const LinearWeights& second) {
    return {a * first.returning + b * second.returning, a * first.streamed + b * second.streamed,
            a * first.momentum + b * second.momentum};
}

/// The wall of a link; `value` is the wall momentum term times its weight.
template <class Real>
struct LinearWall {
    Real returning, streamed, value;

    /// The incoming population, from the post-collision population towards the wall, the one away from it, and the one
    /// that has just streamed in towards it. The weights count differences, so that equal populations, as those of a
    /// fluid at rest, stay what they are whatever the rounding of the weights.
    LBM_HD Real incoming(Real outgoing, Real f_returning, Real f_streamed) const {
        return outgoing + returning * (f_returning - outgoing) + streamed * (f_streamed - outgoing) + value;
    }
};

}  // namespace lbm::boundary
