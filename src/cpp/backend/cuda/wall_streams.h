// The streams in which units of moments with walls are swept beside the others.
#pragma once

#include <deque>

#include "branch_stream.h"
#include "moment_units.h"

namespace lbm::cuda {

/// One stream for each kind of units with walls. They take longest, and begun last would leave the GPU to a few of
/// them.
class WallStreams {
public:
    explicit WallStreams(int ordinal) : ordinal_(ordinal), fork_(ordinal) {}

    /// Makes the streams, if there are any walls: a GPU has few queues for all streams.
    void prepare(bool any_walls) {
        while (any_walls && branches_.size() + 1 < MomentUnits::kind_count) {
            branches_.emplace_back(ordinal_);
        }
    }

    /// Calls launch(stream, k) for each of MomentUnits::kinds of which there are units, those that take longest first,
    /// each in a stream of its own and the last one in `main`, whose further work waits for all of them.
    template <class Launch>
    void sweep(const WorkStream& main, const MomentUnits& units, Launch&& launch) {
        std::size_t in_use = 0;
        int waiting = -1;
        for (int k = 0; k < MomentUnits::kind_count; ++k) {
            if (units.of(k).count == 0) {
                continue;
            }
            if (waiting >= 0) {
                if (in_use == 0) {
                    fork_.set(main);
                }
                const WorkStream& other = branches_[in_use++].stream;
                fork_.make_wait(other);
                launch(other, waiting);
            }
            waiting = k;
        }
        if (waiting >= 0) {
            launch(main, waiting);
        }
        for (std::size_t k = 0; k < in_use; ++k) {
            branches_[k].join(main);
        }
    }

private:
    int ordinal_;
    StreamEvent fork_;
    std::deque<BranchStream> branches_;  // which cannot be moved
};

}  // namespace lbm::cuda
