// How the threads of a tile of cells whose state is moments hand populations to each other: what of its populations
// others need, a thread exposes in shared memory, and gathers from there what comes in to its cells.
#pragma once

#include "moment_shape.h"
#include "pack.h"

namespace lbm::cuda {

/// A tile whose threads exchange populations in shared memory. Step s has some of its own there, and the first of its
/// `slots` is that of row s of the tile. With `along_y` the warps of a tile lie along y, and its rows are those of
/// cells with the same x.
template <class S, class Real, int V, int steps, int rows, bool along_y = false>
struct MomentTile : MomentShape<S, Real, V, steps, rows, along_y> {
    static_assert(!along_y || V == 1);
    using Shape = MomentShape<S, Real, V, steps, rows, along_y>;
    static constexpr bool ends_inside = along_y;
    static constexpr int in_row = along_y ? 1 : 0, across = 1 - in_row;  // axes

    /// Exposes the populations of one of a thread's cells that cross its ends, as soon as they are there: registers
    /// need not keep them.
    template <int s, int v>
    __device__ static void expose_cell(Real* shared, int slot, const Real (&h)[S::Q]) {
        static_for<S::Q>([&]<int i>() {
            constexpr int x = S::c[i][in_row], y = S::c[i][across];
            Real* const to = shared + Shape::first_number(s, i);
            if constexpr (x != 0 && y != 0) {
                to[v * Shape::slots(s) + slot] = h[i];
            } else if constexpr (x != 0) {
                if constexpr (v == (x > 0 ? V - 1 : 0)) {
                    to[slot] = h[i];
                }
            }
        });
    }
    /// Exposes the others, of all of a thread's cells.
    template <int s>
    __device__ static void expose_packs(Real* shared, int slot, const Real (&h)[V][S::Q]) {
        static_for<S::Q>([&]<int i>() {
            if constexpr (S::c[i][in_row] == 0 && S::c[i][across] != 0) {
                Pack<Real, V> pack;
                static_for<V>([&]<int v>() { pack.lane[v] = h[v][i]; });
                reinterpret_cast<Pack<Real, V>*>(shared + Shape::first_number(s, i))[slot] = pack;
            }
        });
    }

    /// Population i of a thread's cell v, as it was exposed if it was: registers need not keep those that were.
    template <int s, int v, int i>
    __device__ static Real own_population(const Real* shared, int slot, const Real (&own)[V][S::Q]) {
        constexpr int x = S::c[i][in_row], y = S::c[i][across];
        const Real* const from = shared + Shape::first_number(s, i);
        if constexpr (x != 0 && y != 0) {
            return from[v * Shape::slots(s) + slot];
        } else if constexpr (x != 0 && v == (x > 0 ? V - 1 : 0)) {
            return from[slot];
        } else if constexpr (y != 0) {
            return reinterpret_cast<const Pack<Real, V>*>(from)[slot].lane[v];
        } else {
            return own[v][i];
        }
    }

    /// Gathers the populations with component `cz` along z that come in to a thread's cells, whose own are `own`.
    template <int s, int cz>
    __device__ static void gather(const Real* shared, int slot, const Real (&own)[V][S::Q], Real (&f)[V][S::Q]) {
        static_for<S::Q>([&]<int i>() {
            constexpr int x = S::c[i][in_row], y = S::c[i][across];
            const Real* const from = shared + Shape::first_number(s, i) - y * Shape::width;
            if constexpr (S::c[i][2] != cz) {
                return;
            } else if constexpr (x == 0 && y == 0) {
                static_for<V>([&]<int v>() { f[v][i] = own[v][i]; });
            } else if constexpr (x == 0) {
                const auto pack =
                    reinterpret_cast<const Pack<Real, V>*>(shared + Shape::first_number(s, i))[slot - y * Shape::width];
                static_for<V>([&]<int v>() { f[v][i] = pack.lane[v]; });
            } else {
                static_for<V>([&]<int v>() {
                    constexpr bool within = v - x >= 0 && v - x < V;
                    constexpr int other = (v - x + V) % V;  // cell of the thread that it comes from
                    if constexpr (y == 0 && within) {
                        f[v][i] = own[other][i];
                    } else {
                        f[v][i] = from[(y == 0 ? 0 : other * Shape::slots(s)) + slot - (within ? 0 : x)];
                    }
                });
            }
        });
    }
};

}  // namespace lbm::cuda
