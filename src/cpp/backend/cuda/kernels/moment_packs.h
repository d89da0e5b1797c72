// What a thread of an update of moments has of its V neighbouring cells: their numbers, as they lie in memory, and the
// sums of what comes in to them.
#pragma once

#include "../../../lattice/moment_collision.h"
#include "pack.h"

namespace lbm::cuda {

/// The numbers of V neighbouring cells, each a pack.
template <class S, class Real, int V>
struct MomentPacks {
    Pack<Real, V> number[moment_count<S>];

    __device__ void load(const Real* from, Index stride) {
        static_for<moment_count<S>>(
            [&]<int k>() { number[k] = *reinterpret_cast<const Pack<Real, V>*>(from + k * stride); });
    }
    /// Loads each cell from a place of its own along the row.
    __device__ void load_each(const Real* from, Index stride, const int (&x)[V]) {
        static_for<moment_count<S>>(
            [&]<int k>() { static_for<V>([&]<int v>() { number[k].lane[v] = from[k * stride + x[v]]; }); });
    }
    template <int v>
    __device__ StoredMoments<S, Real> of() const {
        StoredMoments<S, Real> m;
        m.for_each([&]<int k>(Real& to) { to = number[k].lane[v]; });
        return m;
    }
    template <int v>
    __device__ void set(StoredMoments<S, Real>& m) {
        m.for_each([&]<int k>(Real& from) { number[k].lane[v] = from; });
    }
    /// Stores the first `count` cells.
    __device__ void store(Real* to, Index stride, int count) const {
        static_for<moment_count<S>>([&]<int k>() {
            if (count >= V) {
                *reinterpret_cast<Pack<Real, V>*>(to + k * stride) = number[k];
            } else {
                static_for<V>([&]<int v>() {
                    if (v < count) {
                        to[k * stride + v] = number[k].lane[v];
                    }
                });
            }
        });
    }
};

/// The sums of a thread's cells in one of the steps.
template <class S, class Real, int V>
struct MomentSums {
    LayerSums<S, Real> below[V] = {};
    TwoLayers<S, Real> two[V] = {};
};

/// The shared memory of a launch, which may be more than a kernel can have without asking the driver.
template <class Real>
__device__ Real* dynamic_shared() {
    extern __shared__ float4 shared_memory[];
    return reinterpret_cast<Real*>(shared_memory);
}

/// A position along a self-periodic axis of n cells.
__device__ inline int around(int at, int n) {
    at %= n;
    return at < 0 ? at + n : at;
}

}  // namespace lbm::cuda
