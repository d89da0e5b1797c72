// The kernel that makes the parameters of a custom collision on a GPU, so that no compiler for the host is needed.
#pragma once

#include "padded.h"

namespace lbm::custom {

/// Never runs. It instantiates the whole collision, so that errors in its text are found before blocks are made.
template <class S, class Collision>
__device__ void collide_once(float* f) {
    using Parameters = Padded<typename Collision::template Parameters<float>>;
    static_assert(sizeof(Parameters) == sizeof(Numbers<float>));
    float h[S::Q], force[S::D];
    for (int i = 0; i < S::Q; ++i) {
        h[i] = f[i];
    }
    for (int d = 0; d < S::D; ++d) {
        force[d] = f[d];
    }
    const PairSums<S, float> sums = pair_sums<S>(h);
    const Moments<S, float> moments = compute_moments<S>(h[0], sums, force, true, 1.0F);
    collide<S, Collision>(h, sums, moments, true, Parameters{});
    for (int i = 0; i < S::Q; ++i) {
        f[i] = h[i];
    }
}

template <class S, class Collision>
__global__ void make_on_device(const GivenNumber* given, int count, Made* made, float* never) {
    make_parameters<S, Collision>(given, count, *made);
    if constexpr (Collision::template goes_with<S>) {
        if (never != nullptr) {
            collide_once<S, Collision>(never);
        }
    }
}

}  // namespace lbm::custom
