// Groups the links of boundary cells by cell and face, and finds the neighbours of each cell.
#include "boundary_plan.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>

#include "../backend/boundary_places.h"
#include "sponge_plan.h"

namespace lbm::engine {
namespace {

using backend::BoundaryCell;

constexpr int most_inwards = 2;  // cells further inwards that a formula may read

/// Whether a condition replaces all populations of its cells.
bool replaces(FaceKind kind) {
    return with_condition(kind, [](auto c) { return boundary::replaces_populations<decltype(c)>; });
}

class Builder {
public:
    Builder(BoundaryPlan& plan, const Domain& domain, const std::vector<BlockPlacement>& blocks, int own)
        : plan_(plan), domain_(domain), blocks_(blocks), own_(own), holder_(blocks, own) {}

    /// Appends the boundary cell of a link, the first of this cell and face.
    void add(const BoundaryPlan::Incoming& link) {
        const int at[3] = {link.x + offset(0), link.y + offset(1), link.z + offset(2)};
        BoundaryCell cell{};
        cell.scaled = -1;
        cell.x = link.x;
        cell.y = link.y;
        cell.z = link.z;
        cell.condition = static_cast<unsigned char>(domain_.faces[link.face]);
        cell.face = static_cast<unsigned char>(link.face);
        cell.inwards = static_cast<unsigned char>(inwards(link.face, at));
        cell.stored = static_cast<unsigned char>(placement().stored[link.face]);
        cell.numbers = place(own_, link.face, at);
        cell.first = plan_.numbers;
        plan_.numbers += cell.stored;
        for (int axis = 0; axis < 3; ++axis) {
            for (int side = 0; side < 2; ++side) {
                bool exists = false;
                cell.neighbor_numbers[axis][side] = neighbor_numbers(cell, at, axis, side, exists);
                cell.neighbors |= static_cast<unsigned char>(exists ? 1 << (2 * axis + side) : 0);
            }
        }
        plan_.cells.push_back(cell);
        plan_.places.push_back(domain_.face_cell(link.face, at[0], at[1], at[2]));
    }

    /// Sets what is known once all populations that enter the cell are.
    void classify(BoundaryCell& cell) {
        const int at[3] = {cell.x + offset(0), cell.y + offset(1), cell.z + offset(2)};
        cell.is_plain = backend::with_stencil(domain_.stencil, [&](auto s) { return is_plain<decltype(s)>(cell); });
        cell.is_in_sponge = cells_in_sponges(domain_.size, domain_.sponges, {{at[0], at[1], at[2]}, {1, 1, 1}}) > 0;
    }

private:
    /// Whether no population but those through the face across x comes from elsewhere than fluid cells of the block.
    template <class S>
    bool is_plain(const BoundaryCell& cell) const {
        const Address& a = placement().address;
        if (cell.face / 2 != 0 || a.halo_x > 0) {
            return false;
        }
        const int inward = cell.face == 0 ? 1 : -1;
        bool plain = true;
        for (int i = 0; i < S::Q; ++i) {
            const bool enters = inward * S::c[i][0] > 0;
            if (enters) {
                plain = plain && (cell.incoming >> unsigned(i) & 1U) != 0;
                continue;
            }
            int from[3] = {cell.x - S::c[i][0], cell.y - S::c[i][1], cell.z - S::c[i][2]};
            const int size[3] = {a.nx, a.ny, a.nz};
            for (int axis = 0; axis < 3; ++axis) {
                from[axis] = axis > 0 && a.self_periodic[axis] ? Address::wrapped(from[axis], size[axis]) : from[axis];
                plain = plain && from[axis] >= 0 && from[axis] < size[axis];
                from[axis] += offset(axis);
            }
            plain = plain && is_fluid(from) && (cell.missing >> unsigned(i) & 1U) == 0;
        }
        return plain;
    }
    const BlockPlacement& placement() const { return blocks_[std::size_t(own_)]; }
    int offset(int axis) const { return placement().offset[axis]; }
    bool is_fluid(const int (&at)[3]) const { return !domain_.solid(at); }

    /// The number of fluid cells behind a cell, counted away from the face: at most most_inwards.
    int inwards(int face, const int (&from)[3]) const {
        const int axis = face / 2, step = face % 2 == 0 ? 1 : -1;
        int at[3] = {from[0], from[1], from[2]};
        int count = 0;
        for (at[axis] += step; count < most_inwards && at[axis] >= 0 && at[axis] < domain_.size[axis] && is_fluid(at);
             at[axis] += step) {
            ++count;
        }
        return count;
    }

    /// The place of a cell's numbers in the memory of a block; `at` is a cell of the domain.
    Index place(int block, int face, const int (&at)[3]) const {
        const BlockPlacement& in = blocks_[std::size_t(block)];
        return backend::BoundaryPlaces(in.address, in.stored)
            .of(face, {at[0] - in.offset[0], at[1] - in.offset[1], at[2] - in.offset[2]});
    }

    /// The place of the numbers of a boundary cell's neighbour along the face. Where there is no such neighbour, it is
    /// that of the cell itself; where another block has it, a copy is listed that brings them. Sets whether it exists.
    Index neighbor_numbers(const BoundaryCell& cell, const int (&at)[3], int axis, int side, bool& exists) {
        int other[3] = {at[0], at[1], at[2]};
        other[axis] += 2 * side - 1;
        if (axis == cell.face / 2 || axis >= domain_.D) {
            return cell.numbers;
        }
        const int outside[3] = {other[0], other[1], other[2]};  // before it is folded back through a periodic face
        if (is_periodic(domain_.faces[2 * axis])) {
            other[axis] = Address::wrapped(other[axis], domain_.size[axis]);
        }
        if (other[axis] < 0 || other[axis] >= domain_.size[axis] || !is_fluid(other)) {
            return cell.numbers;
        }
        exists = true;
        const int block = holder_(other);
        if (block == own_) {
            return place(own_, cell.face, other);
        }
        const Index target = place(own_, cell.face, outside);
        plan_.copies.push_back({target, block, place(block, cell.face, other), cell.stored});
        return target;
    }

    BoundaryPlan& plan_;
    const Domain& domain_;
    const std::vector<BlockPlacement>& blocks_;
    const int own_;
    BlockFinder holder_;
};

}  // namespace

BoundaryPlan::BoundaryPlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own,
                           std::vector<Incoming> links) {
    const auto cell_of = [](const Incoming& link) { return std::tie(link.z, link.y, link.x); };
    std::sort(links.begin(), links.end(), [&](const Incoming& a, const Incoming& b) {
        return std::tuple_cat(cell_of(a), std::tie(a.face, a.i)) < std::tuple_cat(cell_of(b), std::tie(b.face, b.i));
    });
    Builder builder(*this, domain, blocks, own);
    for (std::size_t first = 0, last = 0; first < links.size(); first = last) {
        const std::size_t cells_before = cells.size();
        unsigned missing = 0;
        for (; last < links.size() && cell_of(links[last]) == cell_of(links[first]); ++last) {
            if (last == first || links[last].face != links[last - 1].face) {
                builder.add(links[last]);
            }
            cells.back().incoming |= 1U << unsigned(links[last].i);
            missing |= 1U << unsigned(links[last].i);
        }
        bool replaced = false;  // by the condition of a face before
        for (std::size_t k = cells_before; k < cells.size(); ++k) {
            cells[k].missing = missing;
            cells[k].replaces = !replaced && replaces(FaceKind(cells[k].condition));
            replaced = replaced || cells[k].replaces;
            builder.classify(cells[k]);
        }
    }
    put_plain_cells_last();
}

void BoundaryPlan::put_plain_cells_last() {
    std::vector<std::size_t> order(cells.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_partition(order.begin(), order.end(), [&](std::size_t k) { return !cells[k].is_plain; });
    BoundaryPlan sorted;
    for (const std::size_t k : order) {
        sorted.cells.push_back(cells[k]);
        sorted.places.push_back(places[k]);
    }
    cells = std::move(sorted.cells);
    places = std::move(sorted.places);
}

void check_boundary_cells(const Domain& domain, const Layout& layout) {
    for (int face = 0; face < 2 * domain.D; ++face) {
        const int axis = face / 2, needed = std::min(1 + most_inwards, domain.size[axis]);
        with_condition(domain.faces[face], [&](auto c) {
            for (std::size_t k = 0; k < layout.blocks().size(); ++k) {
                const Block& block = layout.blocks()[k];
                if (boundary::has_cell_formula<decltype(c)> && block.is_at(face, domain.size) &&
                    block.size[axis] < needed) {
                    throw std::invalid_argument("layout: block " + std::to_string(k) + " has " +
                                                std::to_string(block.size[axis]) + " cells before face " +
                                                face_name(face) + ", where '" + decltype(c)::name + "' reads " +
                                                std::to_string(needed) + " inwards: cut it elsewhere");
                }
            }
        });
    }
}

}  // namespace lbm::engine
