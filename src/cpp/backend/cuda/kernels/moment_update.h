// The update of blocks in three dimensions whose state is moments: several steps for each time that memory is read and
// written.
//
// A thread block sweeps a tile along z, layer by layer. It rebuilds the populations of a layer from their moments, and
// its threads exchange them. Of what comes in a cell keeps the sums of the layer below and of its own layer
// (lattice/moment_collision.h); with those of the layer above it collides. After the last step the new moments go to
// memory, else their populations are exchanged again, one layer behind. The cells around the tile that the first of
// several steps needs are computed by each tile for itself. The operations of a cell are those of the CPU's sweep in
// the same order, whatever the tiles.
//
// What a thread keeps fills its registers. So of several cells it exposes the populations of one before it rebuilds
// those of the next, and collides each only when its populations are wanted.
#pragma once

#include "../../../lattice/collisions/all.h"
#include "../../../lattice/parameters.h"
#include "../../../lattice/stencils/all.h"
#include "../../wall_links.h"
#include "moment_arguments.h"
#include "moment_cut_walls.h"
#include "moment_force.h"
#include "moment_packs.h"
#include "moment_tile.h"
#include "moment_walls.h"

namespace lbm::cuda {

/// What a thread has of a tile: where its cells are, and what it does in each of the steps.
template <class Tile, int V, int steps>
struct MomentPlace {
    int x, y;       // of its first cell, which may lie beside the block
    int in_row;     // of its slot, among those of the row
    int row;        // of the tile, those beside it included
    int in_tile;    // of its slot, among those of the tile
    bool is_extra;  // whether its cells are those next to the ends of rows

    __device__ MomentPlace(int first_x, int first_y) {
        const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
        if constexpr (Tile::ends_inside) {
            is_extra = lane < Tile::extra_lanes || lane >= 32 - Tile::extra_lanes;
            row = warp;
            in_row = lane;
        } else {
            constexpr int ends = 2 * Tile::extra_lanes;
            is_extra = warp >= Tile::all_rows;
            const int end = (warp - Tile::all_rows) * 32 + lane;
            row = is_extra ? min(end / ends, Tile::all_rows - 1) : warp;
            const int in_ends = end % ends;
            in_row = !is_extra ? lane + Tile::extra_lanes : in_ends < Tile::extra_lanes ? in_ends : 32 + in_ends;
        }
        in_tile = row * Tile::width + in_row;
        const int place[] = {(in_row - Tile::extra_lanes) * V, row - steps};
        x = first_x + place[Tile::in_row];
        y = first_y + place[Tile::across];
    }
    /// Its slot among those of step s.
    __device__ int slot(int s) const { return in_tile - s * Tile::width; }
    /// Whether all neighbours in its row of a cell that step s computes have populations of that step.
    __device__ bool has_neighbors(int s, int v) const {
        const int cell = in_row * V + v;
        return cell > s && cell < Tile::width * V - 1 - s;
    }
    /// Whether step s, from 0 on, computes the cells of this thread, in a tile whose rows end at `end_y`.
    __device__ bool computes(int s, int end_y) const {
        const bool is_inner = row > s && row < Tile::all_rows - 1 - s && y < end_y + steps - 1 - s;
        return is_inner && (s < steps - 1 || !is_extra);
    }
};

template <class S, class Collision, class Real, class Parameters, Forcing forcing, bool walls, bool images, bool scaled,
          bool cuts, bool kept_populations, int kept_sums, int V, int steps, int rows, int pitch, bool along_y = false>
__global__ void __launch_bounds__(MomentTile<S, Real, V, steps, rows, along_y>::threads,
                                  MomentTile<S, Real, V, steps, rows, along_y>::blocks)
    update_moments(const __grid_constant__ MomentUpdate<Real, Parameters> a) {
    using Tile = MomentTile<S, Real, V, steps, rows, along_y>;
    const MomentUnit unit = a.units[blockIdx.x];
    const Address& address = a.address;
    const MomentPlace<Tile, V, steps> at(unit.x, unit.y);
    const int first_z = unit.first, layers = unit.layers, end_y = unit.end_y;

    const bool reads = at.y < end_y + steps;
    int x = address.self_periodic[0] ? around(at.x, address.nx) : at.x;
    const bool has_cells = x < address.nx + steps;
    x = has_cells ? x : 0;
    const int y = address.self_periodic[1] ? around(at.y, address.ny) : at.y;
    Real* const shared = dynamic_shared<Real>();
    Real* const behind_tile = shared + Tile::numbers;
    using Kept = KeptNumbers<S, Real, V, steps, cuts, Tile::threads, InShared{kept_populations, kept_sums}>;
    Kept kept(behind_tile);
    MomentWallsOfThread<S, Real, V, steps, images> at_walls(a.walls, address, x, y, has_cells,
                                                            Kept::template behind<int>(behind_tile));
    const Index stride = pitch > 0 ? pitch : address.population_stride;
    const Index layer_stride = address.row_stride * (address.ny + 2 * address.halo_y);
    int z = address.self_periodic[2] ? around(first_z - steps, address.nz) : first_z - steps;
    const int row_y = images ? at_walls.image_row : y;
    const Real* from = a.source + address.row(reads ? row_y : 0, z, 0) + moment_place(0, x, stride);
    Real* to = a.target + address.row(reads ? y : 0, first_z, 0) + moment_place(0, x, stride);
    const auto after = [&](int layer) { return address.self_periodic[2] && layer + 1 == address.nz ? 0 : layer + 1; };
    const auto next_layer = [&]() {
        const int next = after(z);
        from += layer_stride * (next - z);
        z = next;
    };

    using Force = MomentForceOfThread<S, Real, V, forcing>;
    Force forces(a.varying, a.force, x, reads ? at.y : 0, first_z - steps);
    MomentSums<S, Real, V> sums[steps];
    MomentPacks<S, Real, V> read;
    const auto load = [&]() {
        if constexpr (walls) {
            if (at_walls.has_image_x()) {
                read.load_each(from, stride, at_walls.image_offsets);
                return;
            }
        }
        read.load(from, stride);
    };
    const auto force_in = [&]<int step>(CellForce<S, Real>(&force)[V]) {
        forces.template get<step, step>(force);
        if constexpr (images && Force::is_any && !Force::is_field) {
            static_for<V>([&]<int v>() { force[v] = at_walls.template force_of<v>(force[v]); });
        }
    };
    if (reads) {
        load();
        if constexpr (walls) {
            at_walls.begin(z, after(z));
        }
    }
#pragma unroll 1
    for (int k = 0; k < layers + 2 * steps; ++k) {
        Real own[V][S::Q];
        if (reads) {
            CellForce<S, Real> made[V] = {};
            if constexpr (Collision::moment_orders == MomentOrders::All) {
                force_in.template operator()<0>(made);
            }
            static_for<V>([&]<int v>() {
                StoredMoments<S, Real> m = read.template of<v>();
                if constexpr (walls) {
                    at_walls.template mirror_cell<v>(m);
                }
                populations_of<S, Collision>(m, made[v], a.compressibility, own[v]);
                if constexpr (!walls) {
                    Tile::template expose_cell<0, v>(shared, at.slot(0), own[v]);
                }
            });
            if constexpr (walls) {
                at_walls.enter();
                at_walls.template clear<0>(own);
                static_for<V>([&]<int v>() { Tile::template expose_cell<0, v>(shared, at.slot(0), own[v]); });
            }
            Tile::template expose_packs<0>(shared, at.slot(0), own);
            if (k + 1 < layers + 2 * steps) {
                next_layer();
                load();
                if constexpr (walls) {
                    at_walls.expect(k + 2 < layers + 2 * steps ? after(z) : z);
                }
            }
        }
        __syncthreads();
        static_for<steps>([&]<int s>() {
            if (at.computes(s, end_y)) {
                const int slot = at.slot(s);
                [[maybe_unused]] const int layer = first_z - steps + k;  // that has come in
                MomentSums<S, Real, V>& sum = sums[s];
                Real f[V][S::Q];
                CellForce<S, Real> force[V];
                force_in.template operator()<s + 1>(force);
                MomentPacks<S, Real, V> collided_now;
                StoredMoments<S, Real> m[V];
                Tile::template gather<s, -1>(shared, slot, own, f);
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
                IncomingMoments<S, Real> in[V];
                const auto collide = [&]<int v>() {
                    m[v] = collided<S, Collision>(in[v], force[v], a.compressibility, a.parameters);
                };
                static_for<V>([&]<int v>() {
                    in[v] = add_layer_above<S>(sum.two[v], above[v]);
                    if constexpr (V == 1) {
                        collide.template operator()<v>();
                    }
                });
                Tile::template gather<s, 0>(shared, slot, own, f);
                Tile::template gather<s, 1>(shared, slot, own, f);
                if constexpr (walls) {
                    const auto own_population = [&]<int v, int i>() {
                        return Tile::template own_population<s, v, i>(shared, slot, own);
                    };
                    apply_links<s, scaled, cuts>(at_walls, kept, forces, own_population, a.compressibility, f,
                                                 sum.below, [&](int) { return k >= 2 * s; });
                    if constexpr (cuts) {
                        apply_cut_links<s, scaled>(at_walls, kept, layer, forces, own_population, a.compressibility, f,
                                                   sum.below,
                                                   [&](int v) { return k > 2 * s && at.has_neighbors(s, v); });
                        prepare_next_layer<s>(at_walls, kept, layer, k + 1 < layers + 2 * steps, f,
                                              [&](int v) { return k >= 2 * s && at.has_neighbors(s, v); });
                    }
                }
                static_for<V>([&]<int v>() {
                    sum.two[v] = add_own_layer<S>(sum.below[v], layer_sums<S, 0>(f[v]));
                    sum.below[v] = layer_sums<S, 1>(f[v]);
                });
                kept.template keep<s>(sum);
                if constexpr (s + 1 < steps) {
                    static_for<V>([&]<int v>() {
                        if constexpr (V > 1) {
                            collide.template operator()<v>();
                        }
                        populations_of<S, Collision>(m[v], force[v], a.compressibility, own[v]);
                        if constexpr (!walls) {
                            Tile::template expose_cell<s + 1, v>(shared, at.slot(s + 1), own[v]);
                        }
                    });
                    if constexpr (walls) {
                        at_walls.template clear<s + 1>(own);
                        static_for<V>(
                            [&]<int v>() { Tile::template expose_cell<s + 1, v>(shared, at.slot(s + 1), own[v]); });
                    }
                    Tile::template expose_packs<s + 1>(shared, at.slot(s + 1), own);
                } else if (k >= 2 * steps) {
                    if constexpr (V > 1) {
                        static_for<V>([&]<int v>() { collide.template operator()<v>(); });
                    }
                    if constexpr (walls) {
                        clear_solid<s + 1>(at_walls, m);
                    }
                    static_for<V>([&]<int v>() { collided_now.template set<v>(m[v]); });
                    collided_now.store(to, stride, address.nx - at.x);
                }
            }
            if constexpr (s + 1 < steps || steps == 1) {
                __syncthreads();
            }
        });
        if (k >= 2 * steps) {
            to += layer_stride;
        }
        forces.next_layer();
    }
}

}  // namespace lbm::cuda
