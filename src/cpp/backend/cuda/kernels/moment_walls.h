// What a thread of an update of moments does at walls: nothing comes from solid cells and from behind walls, and what
// the formulas of links give takes the place of what would come from there.
#pragma once

#include "../../../lattice/moment_collision.h"
#include "../../wall_links.h"
#include "moment_arguments.h"

namespace lbm::cuda {

/// The walls of a thread's cells, layer by layer, and the cells of which they are images behind faces with free slip.
template <class S, class Real, int V, int steps>
struct MomentWallsOfThread {
    static constexpr int none = -1, outside = -2;

    const MomentWallRows& walls;
    const Address& address;
    int x;
    bool has_cells;
    bool is_outside[V];        // of the domain in all layers, by x
    CellImage image_x[V];      // x of the cells that these are images of
    int image_offsets[V];      // of those, from x
    CellImage image_y;         // the same of their row in three dimensions
    int first_real, end_real;  // layers, but images
    int entry[steps + 1];      // of the layer that comes in, and of those before it: that of its cells, none or outside

    /// A thread without `cells` lies behind all that are needed.
    __device__ MomentWallsOfThread(const MomentWallRows& walls, const Address& address, int x, int y, bool cells)
        : walls(walls), address(address), x(x), has_cells(cells) {
        const int(&to_mirror)[6] = walls.cells_to_mirror;
        static_for<V>([&]<int v>() {
            is_outside[v] = is_behind(x + v, address.nx, 0);
            image_x[v] = image_of(x + v, address.nx, to_mirror[0], to_mirror[1]);
            image_offsets[v] = image_x[v].at - x;
        });
        image_y = S::D == 3 ? image_of(y, address.ny, to_mirror[2], to_mirror[3]) : CellImage{y, false};
        constexpr int last = S::D - 1;
        first_real = -to_mirror[2 * last];
        end_real = (last == 2 ? address.nz : address.ny) + to_mirror[2 * last + 1];
        static_for<steps + 1>([&]<int s>() { entry[s] = none; });
    }
    __device__ bool has_image_x() const {
        bool any = false;
        static_for<V>([&]<int v>() { any = any || image_offsets[v] != v; });
        return any;
    }
    /// Turns the moments of the cell of which cell v is an image into its own.
    template <int v>
    __device__ void mirror_cell(StoredMoments<S, Real>& m) const {
        if (image_x[v].odd) {
            mirror<0>(m);
        }
        if constexpr (S::D == 3) {
            if (image_y.odd) {
                mirror<1>(m);
            }
        }
    }
    template <int v>
    __device__ CellForce<S, Real> force_of(CellForce<S, Real> force) const {
        force.of[0] = image_x[v].odd ? -force.of[0] : force.of[0];
        if constexpr (S::D == 3) {
            force.of[1] = image_y.odd ? -force.of[1] : force.of[1];
        }
        return force;
    }
    __device__ bool is_behind(int at, int n, int axis) const {
        return !address.self_periodic[axis] &&
               (-1 - at >= walls.cells_to_wall[2 * axis] || at - n >= walls.cells_to_wall[2 * axis + 1]);
    }
    /// Goes on to the next layer, in which the thread has cells of row (y, z) of the block.
    __device__ void enter(int y, int z) {
        static_for<steps>([&]<int s>() { entry[steps - s] = entry[steps - 1 - s]; });
        const bool behind = is_behind(y, address.ny, 1) || (S::D == 3 && is_behind(z, address.nz, 2));
        entry[0] = behind ? outside : has_cells ? walls.chunk[walls.row(address, x, y, z)] : none;
    }
    /// The cell of a layer that came in `s` layers ago.
    template <int s, int v>
    __device__ MomentWallCell cell() const {
        return entry[s] < 0 ? MomentWallCell{} : walls.cells[entry[s] + MomentWallRows::place(x + v)];
    }
    template <int s, int v>
    __device__ bool is_solid(const MomentWallCell& cell) const {
        return entry[s] == outside || is_outside[v] || (cell.links & MomentWallCell::solid) != 0;
    }
    template <int s>
    __device__ bool may_have_any() const {
        bool any = entry[s] != none;
        static_for<V>([&]<int v>() { any = any || is_outside[v]; });
        return any;
    }

    /// Clears the populations of solid cells of the layer that came in `s` layers ago.
    template <int s>
    __device__ void clear(Real (&h)[V][S::Q]) const {
        if (may_have_any<s>()) {
            static_for<V>([&]<int v>() {
                if (is_solid<s, v>(cell<s, v>())) {
                    static_for<S::Q>([&]<int i>() { h[v][i] = Real(0); });
                }
            });
        }
    }
};

/// Calls visit.operator()<i>(place among the cell's links) for the populations that formulas give a cell.
template <class S, class Visit>
__device__ void for_links(const MomentWallCell& cell, Visit&& visit) {
    UInt32 link = cell.first;
    static_for<S::Q - 1>([&]<int k>() {
        constexpr int i = k + 1;
        if ((cell.links >> i & 1U) != 0) {
            visit.template operator()<i>(link);
            ++link;
        }
    });
}

/// Calls visit.operator()<i>(incoming) for what has been kept for a cell in step s.
template <int s, class S, class Real, class Visit>
__device__ void for_kept(const MomentWallRows& walls, const MomentWallCell& cell, Visit&& visit) {
    const Real* const kept = static_cast<const Real*>(walls.kept) + s * walls.link_count;
    for_links<S>(cell, [&]<int i>(UInt32 link) {
        if constexpr (S::c[i][S::D - 1] < 0) {
            visit.template operator()<i>(kept[link]);
        }
    });
}

/// The populations of a link's formula.
template <class S, class Real>
struct OwnPopulations {
    const Real (&h)[S::Q];
    int i;

    __device__ Real outgoing() const { return h[Stencil<S>::opposite(i)]; }
    __device__ Real returning() const { return h[i]; }
};

/// Computes what the formulas of a cell's links give, in the places of the incoming populations. The moments that they
/// read of an image across x or y are the images of those of the cell, which sums of its own populations would not be.
/// Few cells have other walls than such at rest, so that this is no part of the loop over layers.
template <class S, class Real>
__device__ __noinline__ void evaluate_formulas(const MomentWallRows& walls, const MomentWallCell& cell, bool image_x,
                                               bool image_y, Real compressibility, const Real (&own)[S::Q],
                                               Real (&in)[S::Q]) {
    boundary::CellMoments<Real> moments{};
    moments.compressibility = compressibility;
    if ((cell.links & MomentWallCell::needs_moments) != 0) {
        Real h[S::Q], deviation = 0, momentum[3] = {};
        static_for<S::Q>([&]<int i>() { h[i] = own[i]; });
        if (image_x) {
            mirror_populations<S, 0>(h);
        }
        if constexpr (S::D == 3) {
            if (image_y) {
                mirror_populations<S, 1>(h);
            }
        }
        add_up<S>(h, deviation, momentum);
        backend::set_cell_moments(moments, deviation, momentum, walls.force);
        moments.velocity[0] = image_x ? -moments.velocity[0] : moments.velocity[0];
        moments.velocity[1] = image_y ? -moments.velocity[1] : moments.velocity[1];
    }
    const backend::WallLink* link = walls.links + cell.first;
#pragma unroll 1
    for (int i = 1; i < S::Q; ++i) {
        if ((cell.links >> i & 1U) != 0) {
            in[i] = backend::incoming<S>(*link++, moments, OwnPopulations<S, Real>{own, i});
        }
    }
}

/// Serves the links of a cell in step s, whose populations are `own`: those in its layer in place of the incoming
/// populations `in`, those from below by their sums, and those from above are kept.
template <int s, class S, class Real>
__device__ void serve_links(const MomentWallRows& walls, const MomentWallCell& cell, bool image_x, bool image_y,
                            const Real (&own)[S::Q], Real compressibility, Real (&in)[S::Q],
                            LayerSums<S, Real>& below) {
    const bool rests = (cell.links & MomentWallCell::rests) != 0;
    Real given[S::Q];
    if (!rests) {
        Real h[S::Q];
        static_for<S::Q>([&]<int i>() { h[i] = own[i]; });
        evaluate_formulas<S>(walls, cell, image_x, image_y, compressibility, h, given);
    }
    Real* const kept = static_cast<Real*>(walls.kept) + s * walls.link_count;
    Real from_below[S::Q] = {};
    for_links<S>(cell, [&]<int i>(UInt32 link) {
        constexpr int up = S::c[i][S::D - 1];
        const Real incoming = rests ? own[Stencil<S>::opposite(i)] : given[i];
        if constexpr (up < 0) {
            kept[link] = incoming;
        } else if constexpr (up == 0) {
            in[i] = incoming;
        } else {
            from_below[i] = incoming;
        }
    });
    add_given<S, 1>(below, from_below);
}

/// The same for those of a thread's cells that are complete, of the layer that came in `s` layers ago: others, beside a
/// tile, would keep what is not true.
template <int s, class S, class Real, int V, int steps, class IsComplete>
__device__ void serve_links(const MomentWallsOfThread<S, Real, V, steps>& walls, const Real (&own)[V][S::Q],
                            Real compressibility, Real (&in)[V][S::Q], LayerSums<S, Real> (&below)[V],
                            const IsComplete& is_complete) {
    if (walls.entry[s] >= 0) {
        static_for<V>([&]<int v>() {
            const MomentWallCell cell = walls.template cell<s, v>();
            if (cell.has_links(S::Q) && is_complete(v)) {
                serve_links<s, S>(walls.walls, cell, walls.image_x[v].odd, walls.image_y.odd, own[v], compressibility,
                                  in[v], below[v]);
            }
        });
    }
}

/// The sums of what comes in to a thread's cells from the layer above, of which `in` are the populations and which came
/// in `s` layers before `layer`; what came off walls takes their place. Where that is the layer behind a face with free
/// slip it sends back what it got, which are the sums `below`; and the first layer before such a face gets back what it
/// sends.
template <int s, class S, class Real, int V, int steps>
__device__ void sums_above(const MomentWallsOfThread<S, Real, V, steps>& walls, int layer, Real (&in)[V][S::Q],
                           LayerSums<S, Real> (&below)[V], LayerSums<S, Real> (&above)[V]) {
    const bool from_image = layer - s == walls.end_real;
    static_for<V>([&]<int v>() {
        const MomentWallCell cell = walls.template cell<s + 1, v>();
        if (from_image) {
            Real given[S::Q] = {};
            for_kept<s, S, Real>(walls.walls, cell, [&]<int i>(Real incoming) { given[i] = incoming; });
            above[v] = below[v];
            add_given<S, -1>(above[v], given);
        } else {
            for_kept<s, S, Real>(walls.walls, cell, [&]<int i>(Real incoming) { in[v][i] = incoming; });
            above[v] = layer_sums<S, -1>(in[v]);
        }
        if (layer - s == walls.first_real) {
            below[v] = layer_sums<S, -1>(in[v]);
        }
    });
}

/// Clears the moments of solid cells of the layer that came in `s` layers ago.
template <int s, class S, class Real, int V, int steps>
__device__ void clear_solid(const MomentWallsOfThread<S, Real, V, steps>& walls, StoredMoments<S, Real> (&m)[V]) {
    if (walls.template may_have_any<s>()) {
        static_for<V>([&]<int v>() {
            if (walls.template is_solid<s, v>(walls.template cell<s, v>())) {
                m[v] = {};
            }
        });
    }
}

}  // namespace lbm::cuda
