// The kernel that makes the parameters of a custom collision on a GPU, so that no compiler for the host is needed.
#pragma once

#include "../../lattice/temperature.h"
#include "make_parameters.h"

namespace lbm::custom {

/// Never runs: it lets the compiler see the collision as the update kernels have it, so that what is wrong with its
/// text is found before blocks are made.
template <class S, class Collision, class Real, bool hybrid_thermal>
__device__ void collide_as_kernels_do(Real* f) {
    using Parameters = Padded<typename Collision::template Parameters<Real>>;
    static_assert(sizeof(Parameters) == sizeof(Numbers<Real>));
    if constexpr (hybrid_thermal) {
        const HeatParameters<Real> heat{};
        collide_once<S, Collision>(f, Parameters{}, EnergyCoupling<S, Real>{f[0], heat});
        collide_once<S, Collision>(f, Laminar<Parameters>{}, EnergyCoupling<S, Real>{f[0], heat});
    } else {
        collide_once<S, Collision>(f, Parameters{}, NoCoupling{});
        collide_once<S, Collision>(f, Laminar<Parameters>{}, NoCoupling{});
    }
}

template <class S, class Collision, class Real, bool hybrid_thermal>
__global__ void make_on_device(const GivenNumber* given, int count, Made* made, Real* never) {
    if constexpr (Whole<Collision>) {
        make_parameters<S, Collision>(given, count, *made);
        if constexpr (Collision::template goes_with<S>) {
            if (never != nullptr) {
                collide_as_kernels_do<S, Collision, Real, hybrid_thermal>(never);
            }
        }
    }
}

}  // namespace lbm::custom
