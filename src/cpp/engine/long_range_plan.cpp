// Maps every halo cell back into the domain through periodic faces, or to the wall that it lies behind.
#include "long_range_plan.h"

#include <array>

#include "../lattice/links.h"
#include "copy_runs.h"

namespace lbm::engine {
namespace {

template <class S>
class Builder {
public:
    Builder(LongRangePlan& plan, const Domain& domain, const std::vector<BlockPlacement>& blocks, int own)
        : plan_(plan), domain_(domain), blocks_(blocks), own_(own), holder_(blocks, own) {
        for (int a = 0; a < S::D; ++a) {
            halo_[a] = address().self_periodic[a] ? 0 : depth_;
            if (!is_periodic(domain.faces[2 * a])) {
                wall_axis_ = a;
            }
        }
    }

    void build() {
        for (int i = 0; i < address().Q; ++i) {
            for (int z = -halo_[2]; z < size_[2] + halo_[2]; ++z) {
                add_layer(z, i);
            }
        }
        if (wall_axis_ >= 0 && !here().keeps_moments) {
            for (const int side : {0, 1}) {
                if (halo_reaches_wall(side)) {
                    add_columns(side);
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

    /// Adds number i of the halo cells in a layer; runs go along y before and behind the rows, else along x.
    void add_layer(int z, int i) {
        for (int x = -halo_[0]; x < size_[0] + halo_[0]; ++x) {
            if (x < 0 || x >= size_[0]) {
                for (int y = -halo_[1]; y < size_[1] + halo_[1]; ++y) {
                    add(x, y, z, i);
                }
            }
        }
        for (int y = -halo_[1]; y < size_[1] + halo_[1]; ++y) {
            if (y < 0 || y >= size_[1] || z < 0 || z >= size_[2]) {
                for (int x = 0; x < size_[0]; ++x) {
                    add(x, y, z, i);
                }
            }
        }
    }

    /// Whether the halo reaches behind the lower (0) or upper (1) wall.
    bool halo_reaches_wall(int side) const {
        const int first = here().offset[wall_axis_], last = first + size_[wall_axis_];
        return side == 0 ? first < depth_ : last + depth_ > domain_.size[wall_axis_];
    }
    /// Whether the halo behind a wall is computed from this cell.
    bool is_before_wall(const std::array<int, 3>& cell) const {
        if (wall_axis_ < 0) {
            return false;
        }
        const int at = cell[std::size_t(wall_axis_)], n = domain_.size[wall_axis_];
        return (at < depth_ && halo_reaches_wall(0)) || (at >= n - depth_ && halo_reaches_wall(1));
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
                if (!is_periodic(domain_.faces[2 * a])) {
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

    void add_columns(int side) {
        const int along = 1 - wall_axis_, face = 2 * wall_axis_ + side;
        const bool isothermal = domain_.face_thermal[face] == ThermalKind::Isothermal;
        const int cell = side == 0 ? 0 : domain_.size[wall_axis_] - 1;
        for (int t = -halo_[along]; t < size_[along] + halo_[along]; ++t) {
            std::array<int, 2> at{};
            at[std::size_t(wall_axis_)] = cell - here().offset[wall_axis_];
            at[std::size_t(along)] = t;
            plan_.columns.push_back({at[0], at[1], {wall_axis_, side == 0 ? -1 : 1, isothermal, 0, 0}});
            const int n = domain_.size[along];
            const auto term = [&](int shift, double factor) {
                return WallTerms::Term{face, -1, ((t + shift + here().offset[along]) % n + n) % n, factor};
            };
            using Terms = std::vector<WallTerms::Term>;
            plan_.temperatures.add(isothermal ? Terms{term(0, 1)} : Terms{});
            plan_.gradients.add(isothermal ? Terms{term(1, 0.5), term(-1, -0.5)} : Terms{});
        }
    }

    static Index place(const Address& a, int x, int y, int z, int i) {
        return LongRangeOffsets<S>(a, x, y, z).post_collision(i);
    }

    LongRangePlan& plan_;
    const Domain& domain_;
    const std::vector<BlockPlacement>& blocks_;
    const int own_;
    const int depth_ = address().halo_x;
    const int size_[3] = {address().nx, address().ny, address().nz};
    int halo_[3]{};
    int wall_axis_ = -1;
    BlockFinder holder_;
};

}  // namespace

LongRangePlan::LongRangePlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own)
    : imports(blocks.size()) {
    backend::with_stencil(domain.stencil, [&](auto s) { Builder<decltype(s)>(*this, domain, blocks, own).build(); });
}

}  // namespace lbm::engine
