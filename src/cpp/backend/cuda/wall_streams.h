// The streams in which units of moments with walls are swept beside the others.
#pragma once

#include <deque>

#include "moment_launches.h"

namespace lbm::cuda {

/// One stream for each kind of units with walls. They take longest, and begun last would leave the GPU to a few of
/// them.
struct WallStreams {
    struct Side {
        WorkStream stream;
        StreamEvent join;

        explicit Side(int ordinal) : stream(ordinal, Priority::High), join(ordinal) {}
    };
    StreamEvent fork;
    std::deque<Side> sides;  // which cannot be moved

    explicit WallStreams(int ordinal) : fork(ordinal) {
        for (int k = 1; k < MomentUnits::kind_count; ++k) {
            sides.emplace_back(ordinal);
        }
    }
};

}  // namespace lbm::cuda
