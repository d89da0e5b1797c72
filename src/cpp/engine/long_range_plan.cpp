// Maps every halo cell back into the domain through periodic faces, or to the wall that it lies behind.
#include "long_range_plan.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <utility>

#include "../lattice/links.h"
#include "copy_runs.h"

namespace lbm::engine {
namespace {

constexpr int smoothing_width = 6;  // cells on each side over which the temperatures of a wall are smoothed

/// The weights of a filter of a wall's temperatures over `width` cells on each side, an even number: twice a filter by
/// binomial coefficients, less that applied two times. It keeps polynomials of third degree as they are, and spreads a
/// jump, which the lattice cannot have without a flow from it.
std::vector<double> smoothing_weights(int width) {
    std::vector<double> binomial{1};
    for (int k = 0; k < width; ++k) {
        binomial.push_back(0);
        for (std::size_t m = binomial.size() - 1; m > 0; --m) {
            binomial[m] = (binomial[m] + binomial[m - 1]) / 2;
        }
        binomial[0] /= 2;
    }
    std::vector<double> weights(2 * binomial.size() - 1, 0);
    for (std::size_t k = 0; k < binomial.size(); ++k) {
        weights[k + binomial.size() / 2] += 2 * binomial[k];
        for (std::size_t m = 0; m < binomial.size(); ++m) {
            weights[k + m] -= binomial[k] * binomial[m];
        }
    }
    return weights;
}

template <class S>
class Builder {
public:
    Builder(LongRangePlan& plan, const Domain& domain, const std::vector<BlockPlacement>& blocks, int own)
        : plan_(plan), domain_(domain), blocks_(blocks), own_(own), holder_(blocks, own) {
        for (int a = 0; a < S::D; ++a) {
            halo_[a] = address().self_periodic[a] ? 0 : depth_;
            is_walled_[a] = !is_periodic(domain.faces[2 * a]);
        }
    }

    void build() {
        const int together = here().keeps_moments ? 2 : 1;  // numbers of a cell that lie side by side
        for (int i = 0; i < address().Q; i += together) {
            for (int z = -halo_[2]; z < size_[2] + halo_[2]; ++z) {
                add_layer(z, i, i + together);
            }
        }
        for (int axis = 0; axis < S::D; ++axis) {
            for (const int side : {0, 1}) {
                if (halo_reaches_wall(axis, side)) {
                    add_columns(axis, side);
                }
            }
        }
        for (const int side_x : {0, 1}) {
            for (const int side_y : {0, 1}) {
                if (halo_reaches_wall(0, side_x) && halo_reaches_wall(1, side_y)) {
                    add_corner({side_x, side_y});
                }
            }
        }
        cut_long_runs(plan_.copies);
        for (auto& runs : plan_.imports) {
            cut_long_runs(runs);
        }
    }

private:
    const BlockPlacement& here() const { return blocks_[std::size_t(own_)]; }
    const Address& address() const { return here().address; }

    /// Adds numbers `first` to `end` - 1 of the halo cells in a layer; runs go along y before and behind the rows, else
    /// along x.
    void add_layer(int z, int first, int end) {
        for (int x = -halo_[0]; x < size_[0] + halo_[0]; ++x) {
            if (x < 0 || x >= size_[0]) {
                for (int i = first; i < end; ++i) {
                    for (int y = -halo_[1]; y < size_[1] + halo_[1]; ++y) {
                        add(x, y, z, i);
                    }
                }
            }
        }
        for (int y = -halo_[1]; y < size_[1] + halo_[1]; ++y) {
            if (y < 0 || y >= size_[1] || z < 0 || z >= size_[2]) {
                for (int x = 0; x < size_[0]; ++x) {
                    for (int i = first; i < end; ++i) {
                        add(x, y, z, i);
                    }
                }
            }
        }
    }

    /// Whether there are walls across an axis, and the halo reaches behind the lower (0) or upper (1) one.
    bool halo_reaches_wall(int axis, int side) const {
        const int first = here().offset[axis], last = first + size_[axis];
        return !here().keeps_moments && is_walled_[axis] &&
               (side == 0 ? first < depth_ : last + depth_ > domain_.size[axis]);
    }
    /// Whether the halo behind a wall is computed from this cell.
    bool is_before_wall(const std::array<int, 3>& cell) const {
        for (int axis = 0; axis < S::D; ++axis) {
            const int at = cell[std::size_t(axis)], n = domain_.size[axis];
            if ((at < depth_ && halo_reaches_wall(axis, 0)) || (at >= n - depth_ && halo_reaches_wall(axis, 1))) {
                return true;
            }
        }
        return false;
    }

    /// Whether coordinate `to` along an axis is one of the cells that the block computes.
    bool is_computed(int axis, int to) const {
        const int around = axis < S::D ? depth_ - S::radius : 0;
        return address().self_periodic[axis] || (to >= -around && to < size_[axis] + around);
    }

    /// Whether population i of a cell leads to one that the block computes.
    bool is_read(int x, int y, int z, int i) const {
        return is_computed(0, x + S::c[i][0]) && is_computed(1, y + S::c[i][1]) && is_computed(2, z + S::c[i][2]);
    }

    /// Adds number i of a halo cell, its population or another one, given relative to the block's corner.
    void add(int x, int y, int z, int i) {
        std::array<int, 3> cell{x + here().offset[0], y + here().offset[1], z + here().offset[2]};
        for (int a = 0; a < S::D; ++a) {
            const int n = domain_.size[a];
            int& at = cell[std::size_t(a)];
            if (at < 0 || at >= n) {
                if (is_walled_[a]) {
                    return;
                }
                at = (at % n + n) % n;
            }
        }
        if (!here().keeps_moments && !is_read(x, y, z, i) && !is_before_wall(cell)) {
            return;
        }
        const int block = holder_({cell[0], cell[1], cell[2]});
        const BlockPlacement& from = blocks_[std::size_t(block)];
        const Index target = place(address(), x, y, z, i);
        const Index source =
            place(from.address, cell[0] - from.offset[0], cell[1] - from.offset[1], cell[2] - from.offset[2], i);
        append(block == own_ ? plan_.copies : plan_.imports[std::size_t(block)], target, source);
    }

    bool is_isothermal(int face) const { return domain_.face_thermal[face] == ThermalKind::Isothermal; }
    /// The cell at the lower (0) or upper (1) end of an axis, relative to the block's corner.
    int end_cell(int axis, int side) const { return (side == 0 ? 0 : domain_.size[axis] - 1) - here().offset[axis]; }

    /// A linear combination of the smoothed temperatures of a face at a place along it and beside that, in terms of the
    /// given ones. Where other walls end the face, the filter is as wide as it can be. Terms come by their distance
    /// from the place, so that equal temperatures give all places the same sum, bit for bit.
    std::vector<WallTerms::Term> smoothed_terms(int face, int along, int place,
                                                std::initializer_list<std::pair<int, double>> shifts) const {
        const int n = domain_.size[along];
        const auto is_nearer = [](int a, int b) { return std::pair(std::abs(a), a) < std::pair(std::abs(b), b); };
        std::map<int, double, decltype(is_nearer)> factors(is_nearer);
        for (const auto& [shift, factor] : shifts) {
            const int centre = place + shift;
            const int to_end = is_walled_[along] ? std::min(centre, n - 1 - centre) : smoothing_width;
            const std::vector<double> weights = smoothing_weights(std::min(to_end / 2 * 2, smoothing_width));
            const int first = shift - int(weights.size()) / 2;
            for (std::size_t k = 0; k < weights.size(); ++k) {
                factors[first + int(k)] += factor * weights[k];
            }
        }
        std::vector<WallTerms::Term> terms;
        terms.reserve(factors.size());
        for (const auto& [shift, factor] : factors) {
            terms.push_back({face, -1, ((place + shift) % n + n) % n, factor});
        }
        return terms;
    }

    void add_columns(int axis, int side) {
        const int along = 1 - axis, face = 2 * axis + side, n = domain_.size[along], offset = here().offset[along];
        const bool isothermal = is_isothermal(face);
        for (int t = -halo_[along]; t < size_[along] + halo_[along]; ++t) {
            const int place = ((t + offset) % n + n) % n;
            if (is_walled_[along] && place != t + offset) {
                continue;
            }
            std::array<int, 2> at{};
            at[std::size_t(axis)] = end_cell(axis, side);
            at[std::size_t(along)] = t;
            MultispeedWall wall{axis, side == 0 ? -1 : 1, isothermal, 0, 0, 0, wall_depth, wall_depth, {}};
            if (is_walled_[along]) {
                wall.below = std::min(place, wall_depth);
                wall.above = std::min(n - 1 - place, wall_depth);
                for (const int end : {0, 1}) {  // no heat passes the corner of two isothermal walls
                    wall.corner_heat[end] = isothermal && !is_isothermal(2 * along + end);
                }
            }
            plan_.columns.push_back({at[0], at[1], wall});
            const auto terms = [&](std::initializer_list<std::pair<int, double>> shifts) {
                return isothermal ? smoothed_terms(face, along, place, shifts) : std::vector<WallTerms::Term>{};
            };
            plan_.temperatures.add(terms({{0, 1}}));
            // Of second order at the ends of a wall too.
            plan_.gradients.add(wall.below == 0   ? terms({{0, -1.5}, {1, 2}, {2, -0.5}})
                                : wall.above == 0 ? terms({{0, 1.5}, {-1, -2}, {-2, 0.5}})
                                                  : terms({{1, 0.5}, {-1, -0.5}}));
            // Near an end, where jumps are smoothed less or not, it would be too large.
            const bool is_near_end = is_walled_[along] && std::min(place, n - 1 - place) < 4;
            plan_.curvatures.add(is_near_end ? terms({}) : terms({{-1, 1}, {0, -2}, {1, 1}}));
        }
    }

    /// Adds the corner of a wall across x and one across y.
    void add_corner(const std::array<int, 2>& sides) {
        backend::WallCorner corner{end_cell(0, sides[0]), end_cell(1, sides[1]), {}, {}};
        for (int axis = 0; axis < 2; ++axis) {
            const int side = sides[std::size_t(axis)], outward = side == 0 ? -1 : 1;
            corner.corner.outward[axis] = outward;
            corner.corner.isothermal[axis] = is_isothermal(2 * axis + side);
            const auto found = std::find_if(plan_.columns.begin(), plan_.columns.end(), [&](const auto& column) {
                return column.wall.axis == axis && column.wall.outward == outward && column.x == corner.x &&
                       column.y == corner.y;
            });
            corner.columns[axis] = found - plan_.columns.begin();
        }
        plan_.corners.push_back(corner);
    }

    Index place(const Address& a, int x, int y, int z, int i) const {
        return here().keeps_moments ? a.row(y, z, 0) + moment_place(i, x, a.population_stride)
                                    : LongRangeOffsets<S>(a, x, y, z).post_collision(i);
    }

    LongRangePlan& plan_;
    const Domain& domain_;
    const std::vector<BlockPlacement>& blocks_;
    const int own_;
    const int depth_ = address().halo_x;
    const int size_[3] = {address().nx, address().ny, address().nz};
    int halo_[3]{};
    bool is_walled_[3]{};
    BlockFinder holder_;
};

}  // namespace

LongRangePlan::LongRangePlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own)
    : imports(blocks.size()) {
    backend::with_stencil(domain.stencil, [&](auto s) { Builder<decltype(s)>(*this, domain, blocks, own).build(); });
}

}  // namespace lbm::engine
