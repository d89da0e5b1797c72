// The walls of a block on the CPU whose state is moments, as its sweeps read them: made of the plan's wall cells and
// solid cells, which are listed row by row.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "../../lattice/boundary/all.h"
#include "../links.h"
#include "../moment_links.h"
#include "moment_kernels.h"

namespace lbm::cpu {

class HostMomentWalls {
public:
    /// With `rows_are_cut` tiles have parts of rows, also of periodic ones.
    void set(const backend::LinkPlan& plan, const Address& a, int D, bool rows_are_cut) {
        walls_ = {};
        std::copy(plan.cells_to_wall, plan.cells_to_wall + 6, walls_.cells_to_wall);
        std::copy(plan.cells_to_mirror, plan.cells_to_mirror + 6, walls_.cells_to_mirror);
        walls_.around = a.halo_x - 1;
        cells_.clear();
        for (const backend::WallCell& cell : plan.wall_cells) {
            UInt32 links = 0;
            for (int k = 0; k < cell.count; ++k) {
                links |= 1U << plan.wall_links[std::size_t(cell.first) + std::size_t(k)].i;
            }
            cells_.push_back({cell.x, links, cell.first, cell.needs_moments, cell.is_cut, 0});
        }
        first_ = firsts(plan.wall_cells, a, D, walls_.around);
        solid_.clear();
        for (const backend::SolidCell& cell : plan.solid_cells) {
            solid_.push_back(cell.x);
        }
        first_solid_ = firsts(plan.solid_cells, a, D, walls_.around + 1);
        if (rows_are_cut && a.self_periodic[0]) {
            add_beyond_ends(cells_, first_, a.nx, walls_.around);
            add_beyond_ends(solid_, first_solid_, a.nx, walls_.around + 1);
        }
        weights_ = plan.link_weights;
        walls_.weights = weights_.empty() ? nullptr : weights_.data();
        refresh(plan);
        walls_.first = first_.data();
        walls_.cells = cells_.data();
        walls_.first_solid = first_solid_.data();
        walls_.solid = solid_.data();
        is_any_ = !cells_.empty() || !solid_.empty() ||
                  std::any_of(plan.cells_to_mirror, plan.cells_to_mirror + 6,
                              [&](int cells) { return cells <= walls_.around; });
    }
    /// Takes the values of the plan, which have changed.
    void refresh(const backend::LinkPlan& plan) {
        links_ = backend::moment_links(plan);
        walls_.links = links_.data();
        scaled_values_ = plan.scaled_values;
        walls_.scaled_values = scaled_values_.data();
        walls_.reference_density = plan.reference_density;
        walls_.wall_inertia = plan.wall_inertia;
        count_alike();
    }

    /// Whether some walls are at known distances or between fluid cells.
    bool has_cuts() const { return !weights_.empty(); }
    /// Null without any.
    const MomentWalls* get() const { return is_any_ ? &walls_ : nullptr; }
    std::size_t bytes() const {
        return (first_.capacity() + first_solid_.capacity()) * sizeof(Index) +
               cells_.capacity() * sizeof(MomentWallCell) + links_.capacity() * sizeof(backend::WallLink) +
               weights_.capacity() * sizeof(boundary::LinearWeights) + solid_.capacity() * sizeof(int) +
               scaled_values_.capacity() * sizeof(backend::ScaledVector);
    }

private:
    /// The index of the first cell of each row, with so many rows beside the block, and behind these the number of
    /// cells.
    template <class Cell>
    static std::vector<Index> firsts(const std::vector<Cell>& cells, const Address& a, int D, int around) {
        const int around_z = D == 3 ? around : 0;
        const Index rows = Index(a.ny + 2 * around) * (a.nz + 2 * around_z);
        std::vector<Index> first(std::size_t(rows + 1), 0);
        for (const Cell& cell : cells) {
            ++first[std::size_t(Index(cell.z + around_z) * (a.ny + 2 * around) + cell.y + around + 1)];
        }
        for (std::size_t row = 1; row < first.size(); ++row) {
            first[row] += first[row - 1];
        }
        return first;
    }

    /// Adds to each periodic row of n cells its own cells beyond its ends, so many on each side.
    template <class Cell>
    static void add_beyond_ends(std::vector<Cell>& cells, std::vector<Index>& first, int n, int around) {
        std::vector<Cell> all;
        for (std::size_t row = 0; row + 1 < first.size(); ++row) {
            const auto begin = cells.begin() + first[row], end = cells.begin() + first[row + 1];
            first[row] = Index(all.size());
            for (const int shift : {-n, 0, n}) {
                for (auto cell = begin; cell != end; ++cell) {
                    Cell shifted = *cell;
                    x_of(shifted) += shift;
                    if (x_of(shifted) >= -around && x_of(shifted) < n + around) {
                        all.push_back(shifted);
                    }
                }
            }
        }
        first.back() = Index(all.size());
        cells = std::move(all);
    }

    /// Finds the cells of each row that are alike.
    void count_alike() {
        for (std::size_t row = 0; row + 1 < first_.size(); ++row) {
            for (Index k = first_[row + 1]; k-- > first_[row];) {
                MomentWallCell& cell = cells_[std::size_t(k)];
                cell.alike = has_steady_walls(cell) ? 1 : 0;
                if (cell.alike == 0 || k + 1 == first_[row + 1]) {
                    continue;
                }
                const MomentWallCell& next = cells_[std::size_t(k + 1)];
                if (next.alike > 0 && next.x == cell.x + 1 && next.links == cell.links && has_same_values(cell, next)) {
                    cell.alike += next.alike;
                }
            }
        }
    }
    const backend::WallLink& link(const MomentWallCell& cell, int number) const {
        return links_[std::size_t(cell.first) + std::size_t(number)];
    }
    bool has_steady_walls(const MomentWallCell& cell) const {
        bool all = !cell.is_cut;
        for (int k = 0; k < __builtin_popcount(cell.links); ++k) {
            const backend::WallLink& each = link(cell, k);
            all = all && each.scaled < 0 && each.condition == position_in<boundary::Conditions, boundary::MovingWall>;
        }
        return all;
    }
    bool has_same_values(const MomentWallCell& one, const MomentWallCell& other) const {
        bool same = true;
        for (int k = 0; k < __builtin_popcount(one.links); ++k) {
            same = same && link(one, k).value == link(other, k).value;
        }
        return same;
    }

    MomentWalls walls_{};
    bool is_any_ = false;
    std::vector<Index> first_, first_solid_;
    std::vector<MomentWallCell> cells_;
    std::vector<backend::WallLink> links_;
    std::vector<boundary::LinearWeights> weights_;
    std::vector<backend::ScaledVector> scaled_values_;
    std::vector<int> solid_;
};

}  // namespace lbm::cpu
