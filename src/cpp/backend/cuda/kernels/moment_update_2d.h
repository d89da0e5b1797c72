// The update of blocks in two dimensions whose state is moments: several steps for each time that memory is read and
// written.
//
// A warp sweeps a strip of cells along y, row by row, alone: its threads hand populations to each other in registers.
// Of the cells beside the strip each of several steps leaves one less that is right, and the strip's own ones are
// stored. Otherwise it is the sweep of three dimensions (moment_update.h), with rows for layers.
#pragma once

#include "../../../lattice/collisions/all.h"
#include "../../../lattice/parameters.h"
#include "../../../lattice/stencils/all.h"
#include "moment_arguments.h"
#include "moment_cut_walls.h"
#include "moment_force.h"
#include "moment_packs.h"
#include "moment_shape.h"
#include "moment_walls.h"

namespace lbm::cuda {

/// Gathers the populations with component `cy` along y that come in to a thread's cells, whose own are `own`, and which
/// those of its neighbours in the warp follow.
template <int cy, class S, class Real, int V>
__device__ void gather_from_warp(const Real (&own)[V][S::Q], Real (&f)[V][S::Q]) {
    static_for<S::Q>([&]<int i>() {
        constexpr int x = S::c[i][0];
        if constexpr (S::c[i][1] == cy) {
            static_for<V>([&]<int v>() {
                if constexpr (v - x >= 0 && v - x < V) {
                    f[v][i] = own[v - x][i];
                } else if constexpr (x > 0) {
                    f[v][i] = __shfl_up_sync(whole_warp, own[V - 1][i], 1);
                } else {
                    f[v][i] = __shfl_down_sync(whole_warp, own[0][i], 1);
                }
            });
        }
    });
}

/// A number that all lanes of a warp have. The compiler knows that of the result; of a loop that might end for some
/// lanes only it would prepare each exchange between them for such lanes, which takes registers.
__device__ inline int same_in_warp(int number) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(whole_warp, number);
#else
    return number;
#endif
}

template <class S, class Collision, class Real, class Parameters, Forcing forcing, bool walls, bool images, bool scaled,
          bool cuts, bool kept_populations, int kept_sums, int V, int steps, int extra_lanes, int pitch>
__global__ void __launch_bounds__(
    StripShape<S, Real, V, steps, extra_lanes>::threads,
    StripShape<S, Real, V, steps, extra_lanes>::blocks(
        StripShape<S, Real, V, steps, extra_lanes>::bytes(walls, cuts, InShared{kept_populations, kept_sums})))
    update_moments_2d(const __grid_constant__ MomentUpdate<Real, Parameters> a) {
    using Shape = StripShape<S, Real, V, steps, extra_lanes>;
    const int lane = int(threadIdx.x) % 32;
    const int number = int(blockIdx.x) * Shape::warps + int(threadIdx.x) / 32;
    const int last = min(number, a.unit_count - 1);  // warps that have none do as the last one, and store nothing
    const MomentUnit unit = a.units[last];
    const Address& address = a.address;
    // At walls lanes go ways of their own: there NVRTC 13.0 made of such a loop one that stores nothing.
    const int first_y = unit.first, layers = walls ? unit.layers : same_in_warp(unit.layers);
    const int at_x = unit.x + (lane - Shape::extra_lanes) * V;
    const bool stores = number == last && lane >= Shape::extra_lanes && lane < 32 - Shape::extra_lanes;

    int x = address.self_periodic[0] ? around(at_x, address.nx) : at_x;
    const bool has_cells = x < address.nx + steps;
    x = has_cells ? x : 0;
    const Index stride = pitch > 0 ? pitch : address.population_stride;
    int y = address.self_periodic[1] ? around(first_y - steps, address.ny) : first_y - steps;
    const Real* from = a.source + address.row(y, 0, 0) + moment_place(0, x, stride);
    Real* to = a.target + address.row(first_y, 0, 0) + moment_place(0, x, stride);

    using Force = MomentForceOfThread<S, Real, V, forcing>;
    Force forces(a.varying, a.force, x, 0, first_y - steps);
    MomentSums<S, Real, V> sums[steps];
    using Kept = KeptNumbers<S, Real, V, steps, cuts, Shape::threads, InShared{kept_populations, kept_sums}>;
    Kept kept(dynamic_shared<Real>());
    MomentWallsOfThread<S, Real, V, steps, images> at_walls(a.walls, address, x, 0, has_cells,
                                                            Kept::template behind<int>(dynamic_shared<Real>()));
    MomentPacks<S, Real, V> packs;
    const auto load = [&]() {
        if constexpr (walls) {
            if (at_walls.has_image_x()) {
                packs.load_each(from, stride, at_walls.image_offsets);
                return;
            }
        }
        packs.load(from, stride);
    };
    const auto force_in = [&]<int step>(CellForce<S, Real>(&force)[V]) {
        forces.template get<step, step>(force);
        if constexpr (images && Force::is_any && !Force::is_field) {
            static_for<V>([&]<int v>() { force[v] = at_walls.template force_of<v>(force[v]); });
        }
    };
    const auto after = [&](int layer) { return address.self_periodic[1] && layer + 1 == address.ny ? 0 : layer + 1; };
    load();
    if constexpr (walls) {
        at_walls.begin(y, after(y));
    }
#pragma unroll 1
    for (int k = 0; k < layers + 2 * steps; ++k) {
        Real own[V][S::Q];
        CellForce<S, Real> made[V] = {};
        if constexpr (Collision::moment_orders == MomentOrders::All) {
            force_in.template operator()<0>(made);
        }
        static_for<V>([&]<int v>() {
            StoredMoments<S, Real> m = packs.template of<v>();
            if constexpr (walls) {
                at_walls.template mirror_cell<v>(m);
            }
            populations_of<S, Collision>(m, made[v], a.compressibility, own[v]);
        });
        if constexpr (walls) {
            at_walls.enter();
            at_walls.template clear<0>(own);
        }
        if (k + 1 < layers + 2 * steps) {
            const int next = after(y);
            from += address.row_stride * (next - y);
            y = next;
            load();
            if constexpr (walls) {
                at_walls.expect(k + 2 < layers + 2 * steps ? after(y) : y);
            }
        }
        static_for<steps>([&]<int s>() {
            [[maybe_unused]] const int layer = first_y - steps + k;  // that has come in
            MomentSums<S, Real, V>& sum = sums[s];
            Real f[V][S::Q];
            CellForce<S, Real> force[V];
            force_in.template operator()<s + 1>(force);
            StoredMoments<S, Real> m[V];
            gather_from_warp<-1, S>(own, f);
            gather_from_warp<0, S>(own, f);
            gather_from_warp<1, S>(own, f);
            LayerSums<S, Real> above[V];
            kept.template take<s>(sum);
            if constexpr (walls) {
                if constexpr (cuts) {
                    add_late_links<s>(at_walls, layer, f, sum.two);
                }
                sums_above<s, cuts>(at_walls, kept, layer, f, sum.below, above);
            } else {
                static_for<V>([&]<int v>() { above[v] = layer_sums<S, -1>(f[v]); });
            }
            static_for<V>([&]<int v>() {
                const auto in = add_layer_above<S>(sum.two[v], above[v]);
                m[v] = collided<S, Collision>(in, force[v], a.compressibility, a.parameters);
            });
            if constexpr (walls) {
                const auto own_population = [&]<int v, int i>() { return own[v][i]; };
                apply_links<s, scaled, cuts>(
                    at_walls, kept, forces, own_population, a.compressibility, f, sum.below,
                    [&](int v) { return k >= 2 * s && lane * V + v >= s && lane * V + v < 32 * V - s; });
                if constexpr (cuts) {
                    const auto has_neighbors = [&](int v) { return lane * V + v > s && lane * V + v < 32 * V - 1 - s; };
                    apply_cut_links<s, scaled>(at_walls, kept, layer, forces, own_population, a.compressibility, f,
                                               sum.below, [&](int v) { return k > 2 * s && has_neighbors(v); });
                    prepare_next_layer<s>(at_walls, kept, layer, k + 1 < layers + 2 * steps, f,
                                          [&](int v) { return k >= 2 * s && has_neighbors(v); });
                }
            }
            static_for<V>([&]<int v>() {
                sum.two[v] = add_own_layer<S>(sum.below[v], layer_sums<S, 0>(f[v]));
                sum.below[v] = layer_sums<S, 1>(f[v]);
            });
            kept.template keep<s>(sum);
            if constexpr (s + 1 < steps) {
                static_for<V>(
                    [&]<int v>() { populations_of<S, Collision>(m[v], force[v], a.compressibility, own[v]); });
                if constexpr (walls) {
                    at_walls.template clear<s + 1>(own);
                }
            } else if (k >= 2 * steps && stores) {
                if constexpr (walls) {
                    clear_solid<s + 1>(at_walls, m);
                }
                MomentPacks<S, Real, V> out;
                static_for<V>([&]<int v>() { out.template set<v>(m[v]); });
                out.store(to, stride, address.nx - at_x);
            }
        });
        if (k >= 2 * steps) {
            to += address.row_stride;
        }
        forces.next_layer();
    }
}

}  // namespace lbm::cuda
