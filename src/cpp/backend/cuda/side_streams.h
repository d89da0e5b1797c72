// The streams in which the boxes of a shell across y are swept, of a block whose state is moments.
#pragma once

#include <deque>

#include "branch_stream.h"
#include "wall_streams.h"

namespace lbm::cuda {

/// One stream for each box. Behind one another, the later boxes would find the GPU full of thread blocks of the
/// interior. These begin where the first box leaves room and take much longer, so that what the neighbours wait for
/// would be done last. Boxes across z need no streams of their own: they have few layers, and no thread block takes
/// long.
class SideStreams {
public:
    explicit SideStreams(int ordinal) : ordinal_(ordinal), fork_(ordinal) {}

    /// Sets the number of boxes, which may have walls or not.
    void set_count(std::size_t count, bool any_walls) {
        while (sides_.size() < count) {
            sides_.emplace_back(ordinal_);
        }
        for (Side& side : sides_) {
            side.at_walls.prepare(any_walls);
        }
        count_ = count;
    }
    std::size_t count() const { return count_; }

    /// Calls update(k, stream, the streams of its walls) for each box, after the work of `main` so far.
    template <class Update>
    void begin(const WorkStream& main, Update&& update) {
        if (count_ > 0) {
            fork_.set(main);
        }
        for (std::size_t k = 0; k < count_; ++k) {
            const WorkStream& stream = sides_[k].branch.stream;
            fork_.make_wait(stream);
            update(k, stream, sides_[k].at_walls);
        }
    }
    /// Makes further work of `main` wait for that of all boxes.
    void end(const WorkStream& main) {
        for (std::size_t k = 0; k < count_; ++k) {
            sides_[k].branch.join(main);
        }
    }

private:
    struct Side {
        BranchStream branch;
        WallStreams at_walls;

        explicit Side(int ordinal) : branch(ordinal), at_walls(ordinal) {}
    };

    int ordinal_;
    StreamEvent fork_;
    std::deque<Side> sides_;  // which cannot be moved
    std::size_t count_ = 0;
};

}  // namespace lbm::cuda
