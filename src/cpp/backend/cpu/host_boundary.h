// Cut links, boundary cells and sponges of a block on the CPU: computes incoming populations, and reads and sets the
// numbers of boundary cells.
#pragma once

#include <vector>

#include "../boundary_cells.h"
#include "../links.h"
#include "../wall_links.h"
#include "host_scaling.h"
#include "threads.h"

namespace lbm::cpu {

/// Operations on the cut links and boundary cells of a state; a temporary object for the duration of a call.
template <class S, class Real, class Stored>
class HostBoundary {
public:
    using View = backend::LatticeView<S, Real, Stored>;
    using Numbers = backend::BoundaryNumbers<Real, Stored>;

    HostBoundary(const View& view, const backend::LinkPlan& plan, const HostScaling& scaling, int threads)
        : view_(view), plan_(plan), cells_(plan.boundary_cells), scaling_(scaling), threads_(threads) {}

    /// Computes the incoming populations of cut links, after all other links.
    void serve_cut_links() const {
        const auto& places = plan_.cut_places[view_.phase];
        with_values([&](const auto& values) {
            for_range(Index(plan_.cut_links.size()), 2048, [&](Index k) {
                const backend::CutLink& link = plan_.cut_links[std::size_t(k)];
                backend::serve_cut_link(view_.data, backend::wall_now<Real>(link, values), places[std::size_t(k)]);
            });
        });
    }
    /// Computes those at walls between fluid cells, after all that reads post-collision populations.
    void serve_sheets() const {
        const auto& places = plan_.sheet_places[view_.phase];
        with_values([&](const auto& values) {
            for_range(Index(plan_.sheet_links.size()), 2048, [&](Index k) {
                const backend::CutLink(&side)[2] = plan_.sheet_links[std::size_t(k)].side;
                backend::serve_sheet_link<Real>(
                    view_.data, {backend::wall_now<Real>(side[0], values), backend::wall_now<Real>(side[1], values)},
                    places[std::size_t(k)]);
            });
        });
    }
    /// Computes incoming populations before the update, after all links; `force(x, y, z, F)` sets F to the force on a
    /// cell.
    template <class Force>
    void complete(const Numbers& next, Force&& force) const {
        for_cells(cells_, [&](const backend::BoundaryCell& cell) {
            with_value(cell, [&](const backend::BoundaryCell& now) { complete_cell(now, next, force); });
        });
    }
    /// Changes populations that have come in, after all else that reads those before the update.
    void finish() const {
        const auto change = [&](const auto& cell) { backend::change_cell(view_, cell, plan_.sponge_layers.data()); };
        for_cells(cells_, [&](const backend::BoundaryCell& cell) { with_value(cell, change); });
        for_cells(plan_.sponge_cells, change);
    }
    template <class Force>
    void start(Force&& force) const {
        for_cells(cells_, [&](const backend::BoundaryCell& cell) { backend::start_boundary_cell(view_, cell, force); });
    }
    void get(double* out) const {
        for_numbers([&](Index place, Index at) { out[at] = double(numbers().get(place)); });
    }
    void put(const double* values) const {
        for_numbers([&](Index place, Index at) { numbers().put(place, Real(values[at])); });
    }

private:
    /// Calls serve(values) with those of the next update.
    template <class Serve>
    void with_values(Serve&& serve) const {
        if (scaling_.serves(plan_)) {
            serve(scaling_.template values<S>(plan_));
        } else {
            serve(backend::SteadyValues{});
        }
    }
    /// Calls `use` with a cell that has its value in the next update.
    template <class Use>
    void with_value(const backend::BoundaryCell& cell, Use&& use) const {
        if (cell.scaled < 0 || !scaling_.serves(plan_)) {
            use(cell);
            return;
        }
        backend::BoundaryCell now = cell;
        scaling_.values<S>(plan_).set(now);
        use(now);
    }
    Numbers numbers() const { return {view_.data, view_.address, view_.phase}; }

    /// Not inlined: compiling the formulas of all conditions once is enough.
    template <class Force>
    [[gnu::noinline]] void complete_cell(const backend::BoundaryCell& cell, const Numbers& next, Force&& force) const {
        backend::complete_boundary_cell(view_, cell, next, force);
    }

    template <class Cells, class Visit>
    void for_cells(const Cells& cells, Visit&& visit) const {
        for_range(Index(cells.size()), 128, [&](Index k) { visit(cells[std::size_t(k)]); });
    }
    /// Calls visit(k) for each k below count, on all threads from `many` on.
    template <class Visit>
    void for_range(Index count, Index many, Visit&& visit) const {
        if (count == 0) {
            return;
        }
        parallel_shares(count < many ? 1 : threads_, count, [&](Index first, Index last) {
            for (Index k = first; k < last; ++k) {
                visit(k);
            }
        });
    }
    /// Calls visit(offset in the slot, index among the numbers of all cells) for each number.
    template <class Visit>
    void for_numbers(Visit&& visit) const {
        for (const backend::BoundaryCell& cell : cells_) {
            for (int k = 0; k < cell.stored; ++k) {
                visit(cell.numbers + k, cell.first + k);
            }
        }
    }

    View view_;
    const backend::LinkPlan& plan_;
    const std::vector<backend::BoundaryCell>& cells_;
    const HostScaling& scaling_;
    int threads_;
};

}  // namespace lbm::cpu
