// What a thread of an update of moments has of its V neighbouring cells: their numbers, as they lie in memory, and the
// sums of what comes in to them.
#pragma once

#include "../../../lattice/address.h"
#include "../../../lattice/moment_collision.h"
#include "pack.h"

namespace lbm::cuda {

/// The numbers of V neighbouring cells, of each two of them (moment_place) a pack.
template <class S, class Real, int V>
struct MomentPacks {
    static constexpr int pairs = moment_count<S> / 2;
    static_assert(moment_count<S> % 2 == 0);
    using OfCell = Pack<Real, 2>;
    Pack<Real, 2 * V> pair[pairs];

    __device__ void load(const Real* from, Index stride) {
        static_for<pairs>([&]<int g>() {
            pair[g] = *reinterpret_cast<const Pack<Real, 2 * V>*>(from + moment_place(2 * g, 0, stride));
        });
    }
    /// Loads each cell from a place of its own along the row.
    __device__ void load_each(const Real* from, Index stride, const int (&x)[V]) {
        static_for<pairs>([&]<int g>() {
            static_for<V>([&]<int v>() {
                const OfCell both = *reinterpret_cast<const OfCell*>(from + moment_place(2 * g, x[v], stride));
                static_for<2>([&]<int n>() { pair[g].lane[2 * v + n] = both.lane[n]; });
            });
        });
    }
    template <int v>
    __device__ StoredMoments<S, Real> of() const {
        StoredMoments<S, Real> m;
        m.for_each([&]<int k>(Real& to) { to = pair[k / 2].lane[2 * v + k % 2]; });
        return m;
    }
    template <int v>
    __device__ void set(StoredMoments<S, Real>& m) {
        m.for_each([&]<int k>(Real& from) { pair[k / 2].lane[2 * v + k % 2] = from; });
    }
    /// Stores the first `count` cells.
    __device__ void store(Real* to, Index stride, int count) const {
        static_for<pairs>([&]<int g>() {
            if (count >= V) {
                *reinterpret_cast<Pack<Real, 2 * V>*>(to + moment_place(2 * g, 0, stride)) = pair[g];
            } else {
                static_for<V>([&]<int v>() {
                    if (v < count) {
                        const OfCell both{pair[g].lane[2 * v], pair[g].lane[2 * v + 1]};
                        *reinterpret_cast<OfCell*>(to + moment_place(2 * g, v, stride)) = both;
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
