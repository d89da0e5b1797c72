// What the update of a block on a GPU keeps of the cells at the ends of its rows, for inlets and outlets across x.
#pragma once

#include <algorithm>
#include <vector>

#include "../boundary_cells.h"
#include "../kinds.h"
#include "../links.h"
#include "device_links.h"

namespace lbm::cuda {

class DeviceRowEnds {
public:
    /// Keeps references to the arguments, which must outlive it.
    DeviceRowEnds(const backend::BlockSpec& spec, const Address& address, const WorkStream& stream)
        : spec_(spec), address_(address), stream_(stream) {}

    /// Keeps something only where at least half of the rows need it: not for a few cells at the edges of other faces.
    void set_plan(const backend::LinkPlan& plan) {
        is_current_ = false;
        end_sums_ = 2 * moments_at_row_ends(plan, address_.nx) >= rows();
        backend::RowEnd low = needed_at(0, plan), high = needed_at(1, plan);
        if (end_sums_ && (low.populations || high.populations)) {
            end_sums_ = false;
            low.cells = std::max(low.cells, 1);
            high.cells = std::max(high.cells, 1);
        }
        row_ends_ = backend::row_ends(low, high);
        backend::with_stencil(spec_.stencil, [&](auto s) {
            using S = decltype(s);
            backend::with_numbers(spec_.precision, spec_.storage, [&](auto numbers) {
                using N = decltype(numbers);
                allocate<backend::RowEndColumns<S, typename N::Real, typename N::Stored>, S>(plan);
            });
        });
    }

    /// Whether an update stores the moments of the cells at both ends, and nothing else.
    bool end_sums() const { return end_sums_; }
    /// What there are columns of (row_end_columns.h).
    int row_ends() const { return row_ends_; }

    void* numbers() const { return numbers_.as<void>(); }
    /// The moments of the cells at both ends, if they are those of the last step.
    void* current_end_sums() const {
        const bool both =
            end_sums_ || std::min(backend::row_end(row_ends_, 0).cells, backend::row_end(row_ends_, 1).cells) > 0;
        return is_current_ && both ? numbers() : nullptr;
    }
    /// Whether the numbers are those of the last step.
    bool is_current() const { return is_current_; }
    /// Whether the next update finds what every later one will.
    bool is_steady() const { return is_current_ == keeps_any(); }
    void state_was_set() { is_current_ = false; }
    void was_updated() { is_current_ = keeps_any(); }

    std::size_t bytes() const { return numbers_.bytes(); }

private:
    Index rows() const { return Index(address_.ny) * address_.nz; }
    bool keeps_any() const { return end_sums_ || row_ends_ != 0; }

    backend::RowEnd needed_at(int face, const backend::LinkPlan& plan) const {
        backend::RowEnd end{0, true, false};
        Index count = 0;
        for (const backend::BoundaryCell& cell : plan.boundary_cells) {
            if (!cell.is_plain || cell.face != face) {
                continue;
            }
            ++count;
            backend::with_type<boundary::Conditions>(cell.condition, [&](auto c) {
                using Condition = typename decltype(c)::type;
                if constexpr (boundary::has_cell_formula<Condition>) {
                    end.cells = std::max(end.cells, Condition::cells_read);
                }
            });
            end.replaced = end.replaced || (cell.replaces && !cell.is_in_sponge);
        }
        return 2 * count >= rows() ? end : backend::RowEnd{0, false, false};
    }

    template <class Columns, class S>
    void allocate(const backend::LinkPlan& plan) {
        Index bytes = 0;
        if (row_ends_ != 0) {
            bytes = Columns::bytes(address_, row_ends_);
        } else if (end_sums_) {
            bytes = backend::EndSums<double>::count(address_, S::D) * backend::size_of(spec_.precision);
        }
        numbers_ = DeviceBuffer(stream_.ordinal(), std::size_t(bytes));
        const Index flags = Columns::replaced_flags(rows());
        if (row_ends_ != 0 && bytes > flags) {
            std::vector<unsigned char> replaced(std::size_t(bytes - flags));
            for (const backend::BoundaryCell& cell : plan.boundary_cells) {
                if (backend::is_replaced_in_update(cell, row_ends_)) {
                    replaced[std::size_t((cell.face * Index(address_.nz) + cell.z) * address_.ny + cell.y)] = 1;
                }
            }
            stream_.copy_to_device(numbers_.address() + DevicePointer(flags), replaced.data(), replaced.size());
            stream_.synchronize();
        }
    }

    const backend::BlockSpec& spec_;
    const Address& address_;
    const WorkStream& stream_;
    DeviceBuffer numbers_;
    bool end_sums_ = false, is_current_ = false;
    int row_ends_ = 0;
};

}  // namespace lbm::cuda
