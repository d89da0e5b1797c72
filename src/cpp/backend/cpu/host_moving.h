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
        given_ = bodies;
        place_ = place;
        bodies_.clear();
        marks_.resize(given_.size());
        for (std::size_t k = 0; k < given_.size(); ++k) {
            backend::MovingBody& body = bodies_.emplace_back(given_[k].body);
            body.shape = given_[k].shape();
            marks_[k].resize(std::size_t(body.marks_of(S::D)));
            body.marks = marks_[k].data();
        }
    }

    std::size_t bytes() const {
        std::size_t sum = 0;
        for (std::size_t k = 0; k < given_.size(); ++k) {
            sum += marks_[k].size() + given_[k].bytes();
        }
        return sum;
    }

    /// Changes what comes in around all bodies: first the walls of all of them, whose formulas read what the other
    /// changes replace.
    void change_incoming() const {
        mark();
        for (std::size_t k = 0; k < bodies_.size(); ++k) {
            over_walls(k, [](const auto& cells, const auto& cell, int i, Index) {
                cells.set_incoming(cell, i, cells.cut(cell, i));
            });
        }
        for (std::size_t k = 0; k < bodies_.size(); ++k) {
            over_cells(k, [](const auto& cells, Index at, Index) { cells.fill(at); });
        }
    }

    backend::ForceAndTorque force(std::size_t which, const backend::TorqueCenter& center) const override {
        mark();
        const double about[3] = {center.at[0], center.at[1], center.at[2]};
        const auto rows = std::size_t(bodies_[which].cells() / bodies_[which].size[0]);
        std::vector<backend::ForceAndTorque> of_rows(rows);  // added in their order, whatever the threads
        over_walls(which, [&](const auto& cells, const auto& cell, int i, Index row) {
            cells.add_force(cell, i, about, center.moves, of_rows[std::size_t(row)]);
        });
        backend::ForceAndTorque sum{};
        for (const backend::ForceAndTorque& own : of_rows) {
            sum.join(own);
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
    /// Finds which cells are in each body in the coming step.
    void mark() const {
        for (std::size_t k = 0; k < bodies_.size(); ++k) {
            const Index length = bodies_[k].marked(0, S::D);
            over_rows(k, bodies_[k].marks_of(S::D) / length, [&](const auto& cells, Index row) {
                for (Index at = row * length; at < (row + 1) * length; ++at) {
                    cells.mark(at);
                }
            });
        }
    }

    /// Visits so many rows of the box about a body, or of its marks.
    template <class Visit>
    void over_rows(std::size_t which, Index rows, Visit&& visit) const {
        if constexpr (!Stencil<S>::multispeed) {  // which takes no bodies
            const backend::LatticeView<S, Real, Stored> view = block_.view();
            const backend::MovingBodies bodies{bodies_[which], int(which), int(bodies_.size()), bodies_.data()};
            const backend::MovingCells<S, Real, Stored> cells(view, bodies, place_, scaling_.factors());
            parallel_shares(cells.count() < 4096 ? 1 : threads_, rows, [&](Index first, Index last) {
                for (Index row = first; row < last; ++row) {
                    visit(cells, row);
                }
            });
        }
    }

    /// Visits the cells of the box about a body by their indices, each with its row of the box.
    template <class Visit>
    void over_cells(std::size_t which, Visit&& visit) const {
        const int length = bodies_[which].size[0];
        over_rows(which, bodies_[which].cells() / length, [&](const auto& cells, Index row) {
            for (Index at = row * length; at < (row + 1) * length; ++at) {
                visit(cells, at, row);
            }
        });
    }

    /// Visits the links that a body cuts of the cells that are in no body at rest, each with its row of the box.
    template <class Visit>
    void over_walls(std::size_t which, Visit&& visit) const {
        over_cells(which, [&](const auto& cells, Index at, Index row) {
            unsigned left = cells.walls(at);
            if (left == 0) {
                return;
            }
            const backend::MovingCell cell = cells.cell(at);
            if (block_.is_solid(cell.local[0], cell.local[1], cell.local[2])) {
                return;
            }
            for (int i = 0; left != 0; ++i, left >>= 1) {
                if ((left & 1U) != 0) {
                    visit(cells, cell, i, row);
                }
            }
        });
    }

    AroundBodies<S, Real, Stored> block_;
    HostScaling& scaling_;
    int threads_;
    std::vector<backend::MovingBodyData> given_;
    std::vector<backend::MovingBody> bodies_;
    std::vector<std::vector<unsigned char>> marks_;  // of each body
    backend::MovingPlace place_{};
};

}  // namespace lbm::cpu
