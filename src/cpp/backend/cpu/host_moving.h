// The bodies that move, of a block on the CPU.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../moving_cells.h"
#include "../moving_state.h"
#include "host_samples.h"
#include "host_scaling.h"
#include "threads.h"

namespace lbm::cpu {

/// What they need of their block, which must outlive them.
template <class S, class Real, class Stored>
struct AroundBodies {
    std::function<backend::LatticeView<S, Real, Stored>()> view;
    std::function<bool(int x, int y, int z)> is_solid;  // in a body at rest
};

template <class S, class Real, class Stored>
class HostMoving final : public backend::MovingState {
public:
    HostMoving(AroundBodies<S, Real, Stored> block, HostScaling& scaling, int threads)
        : block_(std::move(block)), scaling_(scaling), threads_(threads) {}

    void set_bodies(const std::vector<backend::MovingBodyData>& bodies, const backend::MovingPlace& place) override {
        bodies_ = bodies;
        place_ = place;
        for (backend::MovingBodyData& body : bodies_) {
            body.body.shape = body.shape();
        }
    }

    /// Changes what comes in around all bodies: first the walls of all of them, whose formulas read what the other
    /// changes replace.
    void change_incoming() const {
        for (const backend::MovingBodyData& body : bodies_) {
            over_cells(body, [](const auto& cells, const auto& cell) { cells.apply_walls(cell); });
        }
        for (const backend::MovingBodyData& body : bodies_) {
            over_cells<true>(body, [](const auto& cells, const auto& cell) { cells.fill(cell); });
        }
    }

    backend::ForceAndTorque force(std::size_t which, const backend::TorqueCenter& center) const override {
        const backend::MovingBodyData& body = bodies_[which];
        const double about[3] = {center.at[0], center.at[1], center.at[2]};
        const auto rows = std::size_t(body.cells() / body.body.size[0]);
        std::vector<backend::ForceAndTorque> of_rows(rows);  // added in their order, whatever the threads
        over_rows(body, [&](const auto& cells, Index row) {
            for (int k = 0; k < body.body.size[0]; ++k) {
                const backend::MovingCell cell = cells.cell(row * body.body.size[0] + k);
                if (cell.is_in_block && !block_.is_solid(cell.local[0], cell.local[1], cell.local[2])) {
                    cells.add_force(cell, about, center.moves, of_rows[std::size_t(row)]);
                }
            }
        });
        backend::ForceAndTorque sum{};
        for (const backend::ForceAndTorque& own : of_rows) {
            for (int d = 0; d < 3; ++d) {
                sum.force[d] += own.force[d];
                sum.torque[d] += own.torque[d];
            }
        }
        return sum;
    }

    std::unique_ptr<backend::StateSamples> make_force_samples(std::size_t which,
                                                              const backend::TorqueCenter& center) override {
        return std::make_unique<HostSamples>(6, [this, which, center](double* sample) {
            const backend::ForceAndTorque now = force(which, center);
            std::copy(now.force, now.force + 3, sample);
            std::copy(now.torque, now.torque + 3, sample + 3);
        });
    }

private:
    template <class Visit>
    void over_rows(const backend::MovingBodyData& body, Visit&& visit) const {
        if constexpr (!Stencil<S>::multispeed) {  // which takes no bodies
            const backend::LatticeView<S, Real, Stored> view = block_.view();
            const backend::MovingCells<S, Real, Stored> cells(view, body.body, place_, scaling_.factors());
            const Index rows = body.cells() / body.body.size[0];
            parallel_shares(body.cells() < 4096 ? 1 : threads_, rows, [&](Index first, Index last) {
                for (Index row = first; row < last; ++row) {
                    visit(cells, row);
                }
            });
        }
    }

    /// Visits the cells of the block about a body; those in bodies at rest with `all` only.
    template <bool all = false, class Visit>
    void over_cells(const backend::MovingBodyData& body, Visit&& visit) const {
        over_rows(body, [&](const auto& cells, Index row) {
            for (int k = 0; k < body.body.size[0]; ++k) {
                const backend::MovingCell cell = cells.cell(row * body.body.size[0] + k);
                if (cell.is_in_block && (all || !block_.is_solid(cell.local[0], cell.local[1], cell.local[2]))) {
                    visit(cells, cell);
                }
            }
        });
    }

    AroundBodies<S, Real, Stored> block_;
    HostScaling& scaling_;
    int threads_;
    std::vector<backend::MovingBodyData> bodies_;
    backend::MovingPlace place_{};
};

}  // namespace lbm::cpu
