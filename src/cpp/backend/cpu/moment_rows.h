// A sweep over rows of cells whose state is moments, for one stencil and one instruction set. It advances several steps
// for each time that memory is read and written.
//
// The sweep goes along the last axis, layer by layer. Of each row of a layer the populations are rebuilt, in a ring of
// as many rows as one target row needs. A target row then sums what comes from this layer: for its neighbour above, for
// itself, and for its neighbour below, which has all of its populations now and collides. So only the few sums of
// a layer are kept from layer to layer (moment_collision.h), not the populations. A row that has collided goes to
// memory after the last step; else its populations go to the ring of the next stage, which is one layer behind. All of
// this fits the second-level cache.
//
// The cells around a tile that the first of several steps needs are computed by each tile for itself. Every cell has
// the same operations in the same order wherever it is computed, so that bits depend neither on tiles nor on steps a
// sweep.
//
// Behind a face with free slip lie images of the cells before it. Across rows these are rows like others, rebuilt from
// those of which they are the images; at the ends of rows they are copies. Along the last axis the sums of an image's
// layer are those of the layer before the face, which it sends towards it, so that no sweep has images there.
#pragma once

#include "../../lattice/moment_collision.h"
#include "../../lattice/parameters.h"
#include "../wall_links.h"
#include "moment_kernels.h"
#include "pack.h"

namespace lbm::cpu {
namespace {

using S = LBM_STENCIL;

template <class Collision, class Real, class Parameters>
class MomentSweep {
public:
    static constexpr int W = LBM_VECTOR_BYTES / int(sizeof(Real));
    using V = Pack<Real, W>;
    static constexpr bool solid = S::D == 3;
    static constexpr int kept_rows = solid ? 3 : 1;

    MomentSweep(const MomentArguments& arguments, const Parameters& parameters)
        : a_(arguments),
          parameters_(parameters),
          memory_(S::D, S::Q, a_.address.nx, a_.steps, a_.end_y - a_.first_y),
          first_row_(solid ? a_.first_y : 0),
          end_row_(solid ? a_.end_y : 1),
          first_layer_(solid ? a_.first_z : a_.first_y),
          end_layer_(solid ? a_.end_z : a_.end_y),
          compressibility_(Real(a_.compressibility)) {
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { force_.of[d] = V{} + Real(a_.force[d]); });
        force_.is_any = a_.forced;
        wraps_ = a_.address.self_periodic[0];
        if (a_.walls != nullptr) {
            const int last = 2 * (S::D - 1), layers = solid ? a_.address.nz : a_.address.ny;
            const int before = a_.walls->cells_to_mirror[last], behind = a_.walls->cells_to_mirror[last + 1];
            first_real_ = before < none ? -before : first_real_;
            end_real_ = behind < none ? layers + behind : end_real_;
        }
    }

    void run() const {
        const int steps = a_.steps;
        const int first = first_layer_ - steps < first_real_ ? first_real_ : first_layer_ - steps;
        for (int layer = first; layer < end_layer_ + steps; ++layer) {
            const int beyond = solid ? steps : 0;
            if (layer >= end_real_) {
                complete_last_layer(layer - end_real_);
                continue;
            }
            for (int row = first_row_ - beyond; row < end_row_ + beyond; ++row) {
                rebuild(row, layer);
                advance(0, row, layer);
            }
        }
    }

private:
    static constexpr int none = 1 << 29;  // more than there are layers

    Real* stage(int s) const { return static_cast<Real*>(a_.scratch) + MomentScratch::line + s * memory_.of_stage(); }
    /// The populations of a row of a stage; population i at x = 0 is `width` times i behind.
    Real* populations(int s, int row) const {
        const int slot = solid ? (row + kept_rows * 1024) % kept_rows : 0;
        return stage(s) + slot * S::Q * memory_.width + memory_.left;
    }
    /// The sums of a target row of a stage.
    Real* sums(int s, int row) const {
        const int place = solid ? row - (first_row_ - (a_.steps - 1 - s)) : 0;
        return stage(s) + memory_.ring + place * memory_.sums + memory_.left;
    }
    /// The populations of a target row of a stage that come off walls above it; of each a row.
    Real* kept(int s, int row) const {
        const int place = solid ? row - (first_row_ - (a_.steps - 1 - s)) : 0;
        return stage(s) + memory_.ring + memory_.targets * memory_.sums + place * memory_.kept + memory_.left;
    }
    /// The cells of a row of a stage, whose populations the next step reads: those around the block too, but where
    /// a row follows itself.
    int first_x(int s) const { return wraps_ ? 0 : -((a_.steps - s + W - 1) / W * W); }
    int end_x(int s) const { return wraps_ ? a_.address.nx : a_.address.nx + a_.steps - s; }

    /// Offset of the first number of cell (0, y, z) of a row of a layer.
    Index offset(int row, int layer) const {
        const auto within = [](int at, int n, bool wraps) { return wraps ? (at % n + n) % n : at; };
        const Address& address = a_.address;
        const int y = within(solid ? row : layer, address.ny, address.self_periodic[1]);
        const int z = solid ? within(layer, address.nz, address.self_periodic[2]) : 0;
        return address.row(y, z, 0);
    }

    /// Puts the populations of a row in memory into the ring of the first stage.
    [[gnu::noinline]] void rebuild(int row, int layer) const {
        const Address& address = a_.address;
        if (is_behind_wall(row, layer)) {
            clear_row(populations(0, row));
            return;
        }
        const CellImage image = image_of_row(row);
        const CellForce<S, V> force = force_of(image);
        const Real* from = static_cast<const Real*>(a_.source) + offset(image.at, layer);
        Real* to = populations(0, row);
        const Index pitch = address.population_stride, width = memory_.width;
        const Index ahead = address.row_stride;
        const int end = end_x(0);
        for (int x = first_x(0); x < end; x += W) {
            StoredMoments<S, V> m;
            m.for_each([&]<int k>(V& number) LBM_INLINE_LAMBDA {
                number = load_pack<Real, W>(from + k * pitch + x);
                __builtin_prefetch(from + k * pitch + x + ahead, 0, 2);
            });
            if constexpr (solid) {
                if (image.odd) {
                    mirror<1>(m);
                }
            }
            put_populations(m, force, to + x, width);
        }
        close_row(to, row, layer);
    }

    /// The row of which a row is an image across y, itself if it is none.
    CellImage image_of_row(int row) const {
        if (!solid || a_.walls == nullptr) {
            return {row, false};
        }
        const int* const cells = a_.walls->cells_to_mirror + 2;
        return image_of(row, a_.address.ny, cells[0], cells[1]);
    }
    CellForce<S, V> force_of(const CellImage& image) const {
        CellForce<S, V> force = force_;
        if (image.odd) {
            force.of[1] = -force.of[1];
        }
        return force;
    }

    LBM_HD void put_populations(const StoredMoments<S, V>& m, const CellForce<S, V>& force, Real* to,
                                Index width) const {
        V h[S::Q];
        populations_of<S, Collision>(m, force, compressibility_, h);
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { store_pack<Real, W>(to + i * width, h[i]); });
    }

    /// Completes the populations of a row of a layer: nothing comes from solid cells, or from behind walls across x;
    /// and where a row follows itself, what leaves it at one end lies before the other one.
    void close_row(Real* row, int y, int layer) const {
        if (a_.walls != nullptr) {
            clear_solid_cells(row, y, layer);
        }
        if (wraps_) {
            const Index width = memory_.width, nx = a_.address.nx;
            static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
                if constexpr (S::c[i][0] > 0) {
                    row[i * width - 1] = row[i * width + nx - 1];
                } else if constexpr (S::c[i][0] < 0) {
                    row[i * width + nx] = row[i * width];
                }
            });
        }
        if (a_.walls != nullptr) {
            const int(&to_wall)[6] = a_.walls->cells_to_wall;
            const int(&to_mirror)[6] = a_.walls->cells_to_mirror;
            const int nx = a_.address.nx;
            for (int beyond = 0; beyond <= a_.walls->around; ++beyond) {
                if (beyond >= to_wall[0]) {
                    clear_cell(row, -1 - beyond);
                } else if (beyond >= to_mirror[0]) {
                    mirror_cell(row, -1 - beyond, beyond - 2 * to_mirror[0]);
                }
                if (beyond >= to_wall[1]) {
                    clear_cell(row, nx + beyond);
                } else if (beyond >= to_mirror[1]) {
                    mirror_cell(row, nx + beyond, nx - 1 - beyond + 2 * to_mirror[1]);
                }
            }
        }
    }

    /// Whether a row of a layer lies behind a wall, from where nothing comes in.
    bool is_behind_wall(int row, int layer) const {
        if (a_.walls == nullptr) {
            return false;
        }
        const int(&to_wall)[6] = a_.walls->cells_to_wall;
        const int y = solid ? row : layer, z = solid ? layer : 0;
        return -1 - y >= to_wall[2] || y - a_.address.ny >= to_wall[3] || -1 - z >= to_wall[4] ||
               z - a_.address.nz >= to_wall[5];
    }
    void clear_cell(Real* row, int x) const {
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { row[i * memory_.width + x] = 0; });
    }
    /// Makes a cell the image of another one across x.
    void mirror_cell(Real* row, int x, int image) const {
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            row[i * memory_.width + x] = row[Stencil<S>::mirror(i, 0) * memory_.width + image];
        });
    }
    void clear_row(Real* row) const {
        for (Index k = -memory_.left; k < S::Q * memory_.width - memory_.left; ++k) {
            row[k] = 0;
        }
    }

    void clear_solid_cells(Real* row, int y, int layer) const {
        const MomentWalls& walls = *a_.walls;
        const Index at = listed_row(y, layer, walls.around + 1);
        for (Index k = walls.first_solid[at]; k < walls.first_solid[at + 1]; ++k) {
            clear_cell(row, walls.solid[k]);
        }
    }
    /// The place of a row of a layer in a list with `around` rows beside the block.
    Index listed_row(int row, int layer, int around) const {
        const Index y = (solid ? row : layer) + around, z = solid ? layer + around : 0;
        return z * (a_.address.ny + 2 * around) + y;
    }

    /// Calls visit(cell) for the cells of a row of a layer that have walls next to them.
    template <class Visit>
    void for_wall_cells(int row, int layer, Visit&& visit) const {
        const MomentWalls& walls = *a_.walls;
        const Index at = listed_row(row, layer, walls.around);
        for (Index k = walls.first[at]; k < walls.first[at + 1]; ++k) {
            visit(walls.cells[k]);
        }
    }

    /// Supplies what the formulas of links give the cells of a target row, such as what comes off walls half-way to the
    /// next cells. Nothing comes from behind them. What comes off walls in the own layer lies in the ring where the
    /// neighbour's population would; what comes off those below is added to the sums; and what comes off those above is
    /// kept until the layer above is in the ring.
    [[gnu::noinline]] void serve_walls(int s, int row, int layer) const {
        const int around = a_.steps - 1 - s;
        const Index width = memory_.width;
        Real* const above = kept(s, row);
        const auto place = [&]<int i>(int x) LBM_INLINE_LAMBDA -> Real& {
            return populations(s, solid ? row - S::c[i][1] : row)[i * width + x - S::c[i][0]];
        };
        if (layer - 1 >= first_layer_ - around && layer - 1 < end_layer_ + around) {
            for_wall_cells(row, layer - 1, [&](const MomentWallCell& cell) {
                int k = 0;
                static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
                    if constexpr (S::c[i][S::D - 1] < 0) {
                        if ((cell.links >> i & 1U) != 0) {
                            place.template operator()<i>(cell.x) = above[k * width + cell.x];
                        }
                        ++k;
                    }
                });
            });
        }
        if (layer >= first_layer_ - around && layer < end_layer_ + around) {
            const Real* own = populations(s, row);
            Real* const below = sums(s, row);
            for_wall_cells(row, layer, [&](const MomentWallCell& cell) {
                const backend::WallLink* link = a_.walls->links + cell.first;
                const boundary::CellMoments<Real> moments = cell_moments(cell, own);
                int k = 0;
                static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
                    constexpr int up = S::c[i][S::D - 1];
                    if ((cell.links >> i & 1U) != 0) {
                        const RingPopulations f{own + cell.x, width, i};
                        const Real incoming = backend::incoming<S>(*link++, moments, f);
                        if constexpr (up < 0) {
                            above[k * width + cell.x] = incoming;
                        } else if constexpr (up == 0) {
                            place.template operator()<i>(cell.x) = incoming;
                        } else {
                            add_to_sums<i>(below + cell.x, incoming);
                        }
                    }
                    k += up < 0 ? 1 : 0;
                });
            });
        }
    }

    /// The populations of a link's formula, of a cell in the ring.
    struct RingPopulations {
        const Real* cell;
        Index width;
        int i;

        Real outgoing() const { return cell[Stencil<S>::opposite(i) * width]; }
        Real returning() const { return cell[i * width]; }
    };

    /// The moments that the formulas of a cell's links read.
    boundary::CellMoments<Real> cell_moments(const MomentWallCell& cell, const Real* row) const {
        boundary::CellMoments<Real> moments{};
        moments.compressibility = compressibility_;
        if (cell.needs_moments) {
            Real f[S::Q], deviation = 0, momentum[3] = {};
            static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { f[i] = row[i * memory_.width + cell.x]; });
            add_up<S>(f, deviation, momentum);
            backend::set_cell_moments(moments, deviation, momentum, a_.force);
        }
        return moments;
    }

    /// Adds population i to the sums of the layer below.
    template <int i>
    void add_to_sums(Real* to, Real incoming) const {
        const Index width = memory_.width;
        LayerSums<S, Real> sums;
        sums.template for_each<1>([&]<int k>(Real& number) { number = to[k * width]; });
        add_population<S, i>(sums, incoming);
        sums.template for_each<1>([&]<int k>(Real& number) { to[k * width] = number; });
    }

    /// To be called when the populations of a row of a layer are in the ring of a stage.
    void advance(int s, int row, int layer) const {
        const int around = a_.steps - 1 - s;  // cells around the tile that the stage computes
        const int target = solid ? row - 1 : row;
        if (solid && target < first_row_ - around) {
            return;
        }
        if (a_.walls != nullptr) {
            if (layer == first_real_) {
                mirror_sums(s, target);
            }
            serve_walls(s, target, layer);
        }
        const bool completes = layer - 1 >= first_layer_ - around && layer > first_real_;
        if (!completes) {
            collect<0>(s, target, nullptr, 0);
        } else if (is_behind_wall(target, layer - 1)) {
            collect<0>(s, target, nullptr, 0);
            clear_row(populations(s + 1, target));
            advance(s + 1, target, layer - 1);
        } else if (s + 1 == a_.steps) {
            Real* to = static_cast<Real*>(a_.target) + offset(target, layer - 1);
            collect<1>(s, target, to, a_.address.population_stride);
        } else {
            Real* to = populations(s + 1, target);
            collect<2>(s, target, to, memory_.width);
            close_row(to, target, layer - 1);
            advance(s + 1, target, layer - 1);
        }
    }

    /// Has the layer behind a face with free slip send back what the first layer before it has sent there.
    void mirror_sums(int s, int row) const {
        const Index width = memory_.width;
        Real* const below = sums(s, row);
        const int end = end_x(s + 1);
        for (int x = first_x(s + 1); x < end; x += W) {
            V h[S::Q];
            gather<-1>(s, row, x, h);
            LayerSums<S, V> image = layer_sums<S, -1>(h);
            image.template for_each<1>([&]<int k>(const V& number)
                                           LBM_INLINE_LAMBDA { store_pack<Real, W>(below + k * width + x, number); });
        }
    }

    /// Completes, in a stage, the last layer before a face with free slip: what comes in from behind it is what the
    /// layer has sent there.
    void complete_last_layer(int s) const {
        const int around = a_.steps - 1 - s, layer = end_real_ - 1;
        if (layer < first_layer_ - around || layer >= end_layer_ + around) {
            return;
        }
        const int beyond = solid ? around : 0;
        for (int row = first_row_ - beyond; row < end_row_ + beyond; ++row) {
            const bool is_behind = is_behind_wall(row, layer);
            if (!is_behind) {
                add_kept(s, row, layer);
            }
            if (s + 1 == a_.steps) {
                Real* to = static_cast<Real*>(a_.target) + offset(row, layer);
                collect_from_image<1>(s, row, to, a_.address.population_stride);
                continue;
            }
            Real* to = populations(s + 1, row);
            if (is_behind) {
                clear_row(to);
            } else {
                collect_from_image<2>(s, row, to, memory_.width);
                close_row(to, row, layer);
            }
            advance(s + 1, row, layer);
        }
    }
    /// Adds what comes off walls above the cells of a layer to the sums of the layer above.
    void add_kept(int s, int row, int layer) const {
        const Index width = memory_.width;
        const Real* const above = kept(s, row);
        Real* const image = sums(s, row);
        for_wall_cells(row, layer, [&](const MomentWallCell& cell) {
            int k = 0;
            static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
                if constexpr (S::c[i][S::D - 1] < 0) {
                    if ((cell.links >> i & 1U) != 0) {
                        add_to_sums<i>(image + cell.x, above[k * width + cell.x]);
                    }
                    ++k;
                }
            });
        });
    }
    template <int then>
    [[gnu::noinline]] void collect_from_image(int s, int row, Real* to, Index to_stride) const {
        const Index width = memory_.width;
        const CellForce<S, V> force = force_of(image_of_row(row));
        const Real* const image = sums(s, row);
        const Real* const both = image + LayerSums<S, V>::numbers * width;
        const int end = end_x(s + 1);
        for (int x = first_x(s + 1); x < end; x += W) {
            LayerSums<S, V> above{};
            above.template for_each<-1>([&]<int k>(V& number)
                                            LBM_INLINE_LAMBDA { number = load_pack<Real, W>(image + k * width + x); });
            collide<then>(x, both, above, force, to, to_stride);
        }
    }

    /// The populations with component `cz` along the last axis that come in to cells of a row.
    template <int cz>
    LBM_HD void gather(int s, int row, int x, V (&h)[S::Q]) const {
        const Real* from[3] = {};
        static_for<kept_rows>([&]<int k>() LBM_INLINE_LAMBDA { from[k] = populations(s, solid ? row + k - 1 : row); });
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            if constexpr (S::c[i][S::D - 1] == cz) {
                constexpr int k = solid ? 1 - S::c[i][1] : 0;
                h[i] = load_pack<Real, W>(from[k] + i * memory_.width + x - S::c[i][0]);
            }
        });
    }

    /// Collides cells of a layer with the sums of the layer above; `both` are those of the others. Their moments, with
    /// `then` of 1, or their populations, with 2, go to `to`.
    template <int then>
    LBM_HD void collide(int x, const Real* both, const LayerSums<S, V>& above, const CellForce<S, V>& force, Real* to,
                        Index to_stride) const {
        TwoLayers<S, V> before;
        before.for_each([&]<int k>(V& number)
                            LBM_INLINE_LAMBDA { number = load_pack<Real, W>(both + k * memory_.width + x); });
        const IncomingMoments<S, V> in = add_layer_above<S>(before, above);
        StoredMoments<S, V> m = collided<S, Collision>(in, force, compressibility_, parameters_);
        if constexpr (then == 2) {
            put_populations(m, force, to + x, to_stride);
        } else {
            put_moments(m, to + x, to_stride, a_.address.nx - x);
        }
    }

    /// Sums the populations that come from a layer, of a target row. With `then` of 1 or 2 the cells of the layer below
    /// collide, and their moments or their populations go to `to`.
    template <int then>
    [[gnu::noinline]] void collect(int s, int row, Real* to, Index to_stride) const {
        const Index width = memory_.width;
        const CellForce<S, V> force = force_of(image_of_row(row));
        Real* const below = sums(s, row);
        Real* const both = below + LayerSums<S, V>::numbers * width;
        const int end = end_x(s + 1);
        for (int x = first_x(s + 1); x < end; x += W) {
            V h[S::Q];
            gather<-1>(s, row, x, h);
            gather<0>(s, row, x, h);
            gather<1>(s, row, x, h);
            LayerSums<S, V> lower;
            lower.template for_each<1>([&]<int k>(V& number)
                                           LBM_INLINE_LAMBDA { number = load_pack<Real, W>(below + k * width + x); });
            LayerSums<S, V> up = layer_sums<S, 1>(h);
            up.template for_each<1>([&]<int k>(const V& number)
                                        LBM_INLINE_LAMBDA { store_pack<Real, W>(below + k * width + x, number); });
            TwoLayers<S, V> two = add_own_layer<S>(lower, layer_sums<S, 0>(h));
            if constexpr (then != 0) {
                const LayerSums<S, V> above = layer_sums<S, -1>(h);
                collide<then>(x, both, above, force, to, to_stride);
            }
            two.for_each([&]<int k>(const V& number)
                             LBM_INLINE_LAMBDA { store_pack<Real, W>(both + k * width + x, number); });
        }
    }

    /// Stores the moments of the first `cells` cells of a pack, behind which there may be cells of a halo.
    LBM_HD void put_moments(StoredMoments<S, V>& m, Real* to, Index stride, int cells) const {
        if (cells >= W) {
            m.for_each([&]<int k>(const V& number) LBM_INLINE_LAMBDA {
                store_pack<Real, W>(to + k * stride, number);
                __builtin_prefetch(to + k * stride + a_.address.row_stride, 1, 2);
            });
        } else {
            m.for_each([&]<int k>(const V& number) LBM_INLINE_LAMBDA {
                Real each[W];
                store_pack<Real, W>(each, number);
                for (int lane = 0; lane < cells; ++lane) {
                    to[k * stride + lane] = each[lane];
                }
            });
        }
    }

    const MomentArguments& a_;
    const Parameters& parameters_;
    MomentScratch memory_;
    int first_row_, end_row_, first_layer_, end_layer_;
    CellForce<S, V> force_;
    Real compressibility_;
    bool wraps_;
    int first_real_ = -none, end_real_ = none;  // layers, but images behind faces with free slip
};

template <class Collision, class Real>
void update_moments(const MomentArguments& a) {
    using Parameters = typename Collision::template Parameters<Real>;
    const Laminar<Parameters> laminar{parameters_from<Parameters>(a.parameters)};
    const Parameters& parameters = laminar;
    if (parameters.smagorinsky_factor > 0) {
        MomentSweep<Collision, Real, Parameters>(a, parameters).run();
    } else {
        MomentSweep<Collision, Real, Laminar<Parameters>>(a, laminar).run();
    }
}

}  // namespace
}  // namespace lbm::cpu
