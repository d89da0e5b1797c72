// What a thread of an update of moments does at walls: nothing comes from solid cells and from behind walls, and what
// the formulas of links give takes the place of what would come from there.
#pragma once

#include "../../../lattice/moment_collision.h"
#include "../../scaled_values.h"
#include "../../wall_links.h"
#include "async_copy.h"
#include "moment_arguments.h"
#include "moment_force.h"
#include "moment_kept.h"

namespace lbm::cuda {

/// Whether something holds for one of the threads of a warp that are here, where all others would take as long.
__device__ inline bool is_any_of_warp(bool holds) { return __any_sync(__activemask(), holds ? 1 : 0) != 0; }

/// The walls of a thread's cells, layer by layer, and, if there are `images`, the cells of which they are images behind
/// faces with free slip. What a layer has is asked for one layer before, and where that is two layers before; it comes
/// to the thread's own numbers in shared memory.
template <class S, class Real, int V, int steps, bool images>
struct MomentWallsOfThread {
    static_assert(V <= 2);
    static constexpr int none = -1, last = S::D - 1;
    /// Flags; of a cell, of which there may be two, those of the first one: outside the domain in all layers, by x, and
    /// image of another one across x.
    static constexpr UInt32 outside_bit = 1, odd_bit = 4;
    /// The same of the thread's row in three dimensions; whether it has cells; and is_row_behind() of the layer to come
    /// and of the one after it.
    static constexpr UInt32 row_outside_bit = 16, row_odd_bit = 32, cells_bit = 64, next_behind_bit = 128,
                            after_behind_bit = 256;

    const MomentWallRows& walls;
    const Address& address;
    int x, y;                    // y: in three dimensions
    int image_offsets[V];        // from x to the cells that these are images of
    int image_row;               // y of those, in three dimensions
    int first_open, end_open;    // layers that no wall lies before
    UInt32 flags;                // each a bool, which would take a register of its own
    const int* chunk_in_layers;  // where the index has the chunk of its cells in layer 0
    int entry[steps + 1];        // of the layer that comes in, and of those before it: that of its cells, or none
    UInt32 links[steps + 1][V];  // and what MomentWallCell has of these; solid: behind walls too
    int next_entry = none;       // of the layer to come
    int* asked;                  // for the links of the layer to come, and the entry of the layer after it
    int stride;                  // from one of these to the next

    /// A thread without `cells` lies behind all that are needed. `shared` has room for what all threads ask for
    /// (asked_at_walls).
    __device__ MomentWallsOfThread(const MomentWallRows& walls, const Address& address, int x, int y, bool cells,
                                   int* shared)
        : walls(walls),
          address(address),
          x(x),
          y(y),
          flags(cells ? cells_bit : 0),
          asked(shared + threadIdx.x),
          stride(int(blockDim.x)) {
        const int(&to_mirror)[6] = walls.cells_to_mirror;
        static_for<V>([&]<int v>() {
            const CellImage image = image_of(x + v, address.nx, to_mirror[0], to_mirror[1]);
            set(outside_bit << v, is_behind(image.at, address.nx, 0));  // an image of what lies there too
            set(odd_bit << v, image.odd);
            image_offsets[v] = image.at - x;
        });
        constexpr int many = 1 << 30;
        const bool goes_around = address.self_periodic[last];
        first_open = goes_around ? -many : -walls.cells_to_wall[2 * last];
        end_open = goes_around ? many : (last == 2 ? address.nz : address.ny) + walls.cells_to_wall[2 * last + 1];
        const CellImage row = S::D == 3 ? image_of(y, address.ny, to_mirror[2], to_mirror[3]) : CellImage{y, false};
        image_row = row.at;
        set(row_odd_bit, row.odd);
        if constexpr (S::D == 3) {
            set(row_outside_bit, is_behind(image_row, address.ny, 1));
        }
        chunk_in_layers = walls.chunk + walls.row(address, x, S::D == 3 ? y : 0, 0);
        static_for<steps + 1>([&]<int s>() {
            entry[s] = none;
            static_for<V>([&]<int v>() { links[s][v] = 0; });
        });
    }
    /// The first layer that is no image of another one, and that behind the last of these. They are computed where they
    /// are needed, of what all threads have.
    __device__ int first_real() const { return -walls.cells_to_mirror[2 * last]; }
    __device__ int end_real() const { return layers() + walls.cells_to_mirror[2 * last + 1]; }
    __device__ int layers() const { return last == 2 ? address.nz : address.ny; }
    __device__ bool is(UInt32 flag) const { return (flags & flag) != 0; }
    __device__ void set(UInt32 flag, bool holds) { flags = holds ? flags | flag : flags & ~flag; }
    /// Whether cell v is the image of another one across x, and whether its row is one across y.
    template <int v>
    __device__ bool is_image_x() const {
        return images && is(odd_bit << v);
    }
    __device__ bool is_image_y() const { return images && is(row_odd_bit); }
    __device__ bool has_image_x() const {
        bool any = false;
        static_for<V>([&]<int v>() { any = any || image_offsets[v] != v; });
        return images && any;
    }
    /// Turns the moments of the cell of which cell v is an image into its own.
    template <int v>
    __device__ void mirror_cell(StoredMoments<S, Real>& m) const {
        if constexpr (images) {
            if (is_image_x<v>()) {
                mirror<0>(m);
            }
            if constexpr (S::D == 3) {
                if (is_image_y()) {
                    mirror<1>(m);
                }
            }
        }
    }
    template <int v>
    __device__ CellForce<S, Real> force_of(CellForce<S, Real> force) const {
        force.of[0] = is_image_x<v>() ? -force.of[0] : force.of[0];
        if constexpr (S::D == 3) {
            force.of[1] = is_image_y() ? -force.of[1] : force.of[1];
        }
        return force;
    }
    __device__ bool is_behind(int at, int n, int axis) const {
        return !address.self_periodic[axis] &&
               (-1 - at >= walls.cells_to_wall[2 * axis] || at - n >= walls.cells_to_wall[2 * axis + 1]);
    }
    __device__ bool is_row_behind(int layer) const {
        return is(row_outside_bit) || layer < first_open || layer >= end_open;
    }
    /// Asks for the number of the entries of the thread's cells in a layer; none where they have no walls.
    __device__ void ask_for_entry(int layer) {
        const int rows = S::D == 3 ? address.ny + 2 * walls.around : 1;
        const bool is_behind_wall = is_row_behind(layer);
        set(after_behind_bit, is_behind_wall);
        if (is(cells_bit) && !is_behind_wall) {
            copy_async(asked + V * stride, chunk_in_layers + Index(layer) * (rows * walls.chunks));
        } else {
            asked[V * stride] = none;
        }
    }
    /// Asks for what the layer has that comes in next, and for where that of the layer `after` it is.
    __device__ void expect(int after) {
        set(next_behind_bit, is(after_behind_bit));
        static_for<V>([&]<int v>() {
            if (next_entry < 0) {
                asked[v * stride] = 0;
            } else {
                copy_async(asked + v * stride, &walls.cells[next_entry + MomentWallRows::place(x + v)].links);
            }
        });
        ask_for_entry(after);
    }
    /// The same of the first layer.
    __device__ void begin(int layer, int after) {
        ask_for_entry(layer);
        wait_for_copies();
        next_entry = asked[V * stride];
        expect(after);
    }
    /// The links of one of its cells in the layer to come.
    template <int v>
    __device__ UInt32 next_links() const {
        return UInt32(asked[v * stride]);
    }
    /// Goes on to the layer to come. What it reads here of the one after it need not wait for what is exposed next.
    __device__ void enter() {
        wait_for_copies();
        static_for<steps>([&]<int s>() {
            entry[steps - s] = entry[steps - 1 - s];
            static_for<V>([&]<int v>() { links[steps - s][v] = links[steps - 1 - s][v]; });
        });
        entry[0] = next_entry;
        static_for<V>([&]<int v>() {
            links[0][v] = next_links<v>() | (is(next_behind_bit | outside_bit << v) ? MomentWallCell::solid : 0);
        });
        next_entry = asked[V * stride];
    }
    /// Its number among those that have entries.
    template <int s, int v>
    __device__ int number() const {
        return entry[s] + MomentWallRows::place(x + v);
    }
    /// Clears the populations of solid cells of the layer that came in `s` layers ago.
    template <int s>
    __device__ void clear(Real (&h)[V][S::Q]) const {
        static_for<V>([&]<int v>() {
            const bool is_solid = (links[s][v] & MomentWallCell::solid) != 0;
            if (is_any_of_warp(is_solid)) {
                static_for<S::Q>([&]<int i>() { h[v][i] = is_solid ? Real(0) : h[v][i]; });
            }
        });
    }
};

/// The populations of a link's formula.
template <class S, class Real>
struct OwnPopulations {
    const Real (&h)[S::Q];
    int i;

    __device__ Real outgoing() const { return h[Stencil<S>::opposite(i)]; }
    __device__ Real returning() const { return h[i]; }
};

/// The moments that the formulas of a cell's links read. Those of an image across x or y are the images of those of the
/// cell, which sums of its own populations would not be. The force is that on the cell.
template <class S, class Real>
__device__ boundary::CellMoments<Real> moments_for_formulas(const double (&force)[3], const MomentWallCell& cell,
                                                            bool image_x, bool image_y, Real compressibility,
                                                            const Real (&own)[S::Q]) {
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
        backend::set_cell_moments(moments, deviation, momentum, force);
        moments.velocity[0] = image_x ? -moments.velocity[0] : moments.velocity[0];
        moments.velocity[1] = image_y ? -moments.velocity[1] : moments.velocity[1];
    }
    return moments;
}

/// The values of a cell's links that do not change in time.
struct ValuesOfLinks {
    __device__ static double of(const backend::WallLink* links, int k) { return links[k].value; }
};

/// Those that compute_values() has left.
struct ValuesInStep {
    const double* values;

    __device__ double of(const backend::WallLink* /*links*/, int k) const { return values[k]; }
};

/// Computes the values of a cell's links in a step. That takes registers which the formulas need: it is a function of
/// its own, and is called before theirs.
template <class S>
__device__ __noinline__ void compute_values(const MomentWallRows& walls, int step, const MomentWallCell& cell,
                                            double (&values)[S::Q]) {
    const backend::ScaledValues<S> in_step{walls.scaled_values, walls.factors + step * walls.series,
                                           walls.reference_density, walls.wall_inertia};
    const backend::WallLink* const links = walls.links + cell.first;
    const int count = __popc(cell.links & ((1U << S::Q) - 1));
#pragma unroll 1
    for (int k = 0; k < count; ++k) {
        backend::WallLink link = links[k];
        in_step.set(link);
        values[k] = link.value;
    }
}

/// Calls work(values) with the values of a cell's links in a step; with `scaled` they may change in time.
template <class S, bool scaled, class Work>
__device__ void with_values(const MomentWallRows& walls, int step, const MomentWallCell& cell, Work&& work) {
    if constexpr (scaled) {
        double values[S::Q];
        compute_values<S>(walls, step, cell, values);
        work(ValuesInStep{values});
    } else {
        work(ValuesOfLinks{});
    }
}

/// As evaluate_formulas_with(), for a cell whose only wall is the domain's first or last face along x. There all cells
/// of a warp have such links (MomentTile), which is worth code of their own: those that do not change in time are
/// loaded at once, and the compiler knows their directions. False if their conditions differ.
template <class Links, class S, class Real, class Values>
__device__ bool evaluate_face(const Values& values, const backend::WallLink* links,
                              const boundary::CellMoments<Real>& moments, const Real (&own)[S::Q], Real (&in)[S::Q]) {
    double value[Links::count];
    const int condition = links[0].condition;
    bool are_alike = true;
    static_for<Links::count>([&]<int k>() {
        are_alike = are_alike && links[k].condition == condition;
        value[k] = values.of(links, k);
    });
    if (!are_alike) {
        return false;
    }
    for_types(boundary::Conditions{}, [&](auto member) {
        using Condition = typename decltype(member)::type;
        if constexpr (boundary::has_formula<Condition>) {
            if (condition == position_in<boundary::Conditions, Condition>) {
                static_for<S::Q>([&]<int i>() {
                    if constexpr (Links::has(i)) {
                        const boundary::Link<Real> link{i, Real(value[Links::rank(i)])};
                        in[i] = Condition::template incoming<S>(link, moments, OwnPopulations<S, Real>{own, i});
                    }
                });
            }
        }
    });
    return true;
}

/// Computes what the formulas of a cell's links give, in the places of the incoming populations.
template <class S, class Real, class Values>
__device__ void evaluate_formulas_with(const double (&force)[3], const Values& values, const MomentWallRows& walls,
                                       const MomentWallCell& cell, bool image_x, bool image_y, Real compressibility,
                                       const Real (&own)[S::Q], Real (&in)[S::Q]) {
    const boundary::CellMoments<Real> moments =
        moments_for_formulas<S>(force, cell, image_x, image_y, compressibility, own);
    const backend::WallLink* const links = walls.links + cell.first;
    const UInt32 directions = cell.links & ((1U << S::Q) - 1);
    bool are_done = false;
    static_for<2>([&]<int side>() {
        using Links = FromSide<S, 0, side>;
        if (directions == Links::bits()) {
            are_done = evaluate_face<Links, S>(values, links, moments, own, in);
        }
    });
    if (are_done) {
        return;
    }
    const int count = __popc(directions);
    constexpr int together = 5;  // loads in flight
#pragma unroll 1
    for (int first = 0; first < count; first += together) {
        backend::WallLink batch[together];
        static_for<together>([&]<int j>() { batch[j] = links[min(first + j, count - 1)]; });
        static_for<together>([&]<int j>() {
            if (first + j < count) {
                batch[j].value = values.of(links, first + j);
                const int i = batch[j].i;
                in[i] = backend::incoming<S>(batch[j], moments, OwnPopulations<S, Real>{own, i});
            }
        });
    }
}

/// Few cells have other walls than such that reflect, so that these are no part of the loop over layers: with a force
/// that is the same everywhere and always, and with another.
template <class S, class Real, class Values>
__device__ __noinline__ void evaluate_formulas(Values values, const MomentWallRows& walls, const MomentWallCell& cell,
                                               bool image_x, bool image_y, Real compressibility,
                                               const Real (&own)[S::Q], Real (&in)[S::Q]) {
    evaluate_formulas_with<S>(walls.force, values, walls, cell, image_x, image_y, compressibility, own, in);
}
template <class S, class Real, class Values>
__device__ __noinline__ void evaluate_formulas(const double (&force)[3], Values values, const MomentWallRows& walls,
                                               const MomentWallCell& cell, bool image_x, bool image_y,
                                               Real compressibility, const Real (&own)[S::Q], Real (&in)[S::Q]) {
    evaluate_formulas_with<S>(force, values, walls, cell, image_x, image_y, compressibility, own, in);
}

/// Gives a cell the populations of its links, `given.operator()<i>()`: those in its layer in place of the incoming
/// populations `in`, those from below by their sums, and those from above are kept.
template <class S, int s, int v, class Real, class Kept, class Given>
__device__ void give(UInt32 links, Kept& kept, Real (&in)[S::Q], LayerSums<S, Real>& below, Given&& given) {
    Real from_below[S::Q] = {};
    static_for<S::Q - 1>([&]<int k>() {
        constexpr int i = k + 1, up = S::c[i][S::D - 1];
        if constexpr (up > 0) {
            from_below[i] = (links >> i & 1U) != 0 ? given.template operator()<i>() : Real(0);
        } else if constexpr (up == 0) {
            in[i] = (links >> i & 1U) != 0 ? given.template operator()<i>() : in[i];
        }
    });
    kept.template for_each_given<s, v>(links, [&]<int i>(Real& number) { number = given.template operator()<i>(); });
    add_given<S, 1>(below, from_below);
}

/// Serves the links of those of a thread's cells that are complete, of the layer that came in `s` layers ago: others,
/// beside a tile, would keep what is not true. Population i of cell v is own.operator()<v, i>().
template <int s, bool scaled, bool cuts, class S, class Real, int V, int steps, bool images, class Kept,
          Forcing forcing, class Own, class IsComplete>
__device__ void apply_links(const MomentWallsOfThread<S, Real, V, steps, images>& walls, Kept& kept,
                            const MomentForceOfThread<S, Real, V, forcing>& forces, const Own& own,
                            Real compressibility, Real (&in)[V][S::Q], LayerSums<S, Real> (&below)[V],
                            const IsComplete& is_complete) {
    using Force = MomentForceOfThread<S, Real, V, forcing>;
    static_for<V>([&]<int v>() {
        const UInt32 links = walls.links[s][v];
        if (MomentWallCell::has_links(links, S::Q) && !(cuts && (links & MomentWallCell::is_cut) != 0) &&
            is_complete(v)) {
            const int number = walls.template number<s, v>();
            if ((links & MomentWallCell::rests) != 0) {
                give<S, s, v>(links, kept, in[v], below[v],
                              [&]<int i>() { return own.template operator()<v, Stencil<S>::opposite(i)>(); });
            } else if ((links & MomentWallCell::reflects) != 0) {
                const backend::WallLink* const first = walls.walls.links + walls.walls.cells[number].first;
                give<S, s, v>(links, kept, in[v], below[v], [&]<int i>() {
                    const auto& link = first[__popc(links & ((1U << i) - 1))];
                    return boundary::bounced_back(own.template operator()<v, Stencil<S>::opposite(i)>(),
                                                  Real(link.value));
                });
            } else {
                Real h[S::Q], given[S::Q];
                static_for<S::Q>([&]<int i>() { h[i] = own.template operator()<v, i>(); });
                const bool odd_x = walls.template is_image_x<v>(), odd_y = walls.is_image_y();
                const MomentWallCell& cell = walls.walls.cells[number];
                with_values<S, scaled>(walls.walls, s, cell, [&](auto values) {
                    if constexpr (Force::is_steady) {
                        evaluate_formulas<S>(values, walls.walls, cell, odd_x, odd_y, compressibility, h, given);
                    } else {
                        double force[3] = {};
                        forces.template on_real_cell<s + 1, s>(v, odd_x, odd_y, force);
                        evaluate_formulas<S>(force, values, walls.walls, cell, odd_x, odd_y, compressibility, h, given);
                    }
                });
                give<S, s, v>(links, kept, in[v], below[v], [&]<int i>() { return given[i]; });
            }
        }
    });
}

/// Clears, of populations that a layer sends to its image behind a face with free slip along the last axis, those that
/// would come back through links of a cell with component `cz` along it, where these have walls that solid cells do not
/// stand behind.
template <int cz, class S, class Real>
__device__ void clear_links_to_image(UInt32 links, Real (&sent)[S::Q]) {
    if ((links & MomentWallCell::is_cut) != 0) {
        static_for<S::Q>([&]<int i>() {
            if constexpr (S::c[i][S::D - 1] == cz) {
                constexpr int image = Stencil<S>::mirror(i, S::D - 1);
                sent[image] = (links >> i & 1U) != 0 ? Real(0) : sent[image];
            }
        });
    }
}

/// The sums of what comes in to a thread's cells from the layer above, of which `in` are the populations and which came
/// in `s` layers before `layer`; what came off walls takes their place. Where that is the layer behind a face with free
/// slip it sends back what it got, which are the sums `below`; and the first layer before such a face gets back what it
/// sends.
template <int s, bool cuts, class S, class Real, int V, int steps, bool images, class Kept>
__device__ void sums_above(const MomentWallsOfThread<S, Real, V, steps, images>& walls, Kept& kept, int layer,
                           Real (&in)[V][S::Q], LayerSums<S, Real> (&below)[V], LayerSums<S, Real> (&above)[V]) {
    const bool from_image = images && layer - s == walls.end_real();
    static_for<V>([&]<int v>() {
        const UInt32 links = walls.links[s + 1][v];
        if (from_image) {
            Real given[S::Q] = {};
            kept.template for_each_given<s, v>(links, [&]<int i>(Real number) { given[i] = number; });
            above[v] = below[v];
            add_given<S, -1>(above[v], given);
        } else {
            kept.template for_each_given<s, v>(links, [&]<int i>(Real number) { in[v][i] = number; });
            above[v] = layer_sums<S, -1>(in[v]);
        }
        if (images && layer - s == walls.first_real()) {
            if constexpr (cuts) {
                clear_links_to_image<1, S>(walls.links[s][v], in[v]);
            }
            below[v] = layer_sums<S, -1>(in[v]);
        }
    });
}

/// Clears the moments of solid cells of the layer that came in `s` layers ago.
template <int s, class S, class Real, int V, int steps, bool images>
__device__ void clear_solid(const MomentWallsOfThread<S, Real, V, steps, images>& walls,
                            StoredMoments<S, Real> (&m)[V]) {
    static_for<V>([&]<int v>() {
        if ((walls.links[s][v] & MomentWallCell::solid) != 0) {
            m[v] = {};
        }
    });
}

}  // namespace lbm::cuda
