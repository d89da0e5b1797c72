// The streams of an update slab by slab, of a block whose two lattices overlap (slabs_of in backend/block_layout.h).
#pragma once

#include "device.h"

namespace lbm::cuda {

/// Two streams, the block's own and another one, which have slabs in turn: of two slabs in a row the second one begins
/// while the thread blocks of the first one end, and a slab begins when all but the one before it are done.
class SlabStreams {
public:
    SlabStreams(int ordinal, const WorkStream& main)
        : main_(main),
          other_(ordinal),
          begin_(ordinal),
          done_{StreamEvent(ordinal), StreamEvent(ordinal), StreamEvent(ordinal), StreamEvent(ordinal)} {}

    /// Calls update(slab, stream, 0 or 1) for each slab, in the order of their numbers or, unless it `ascends`, from
    /// the last one on. The number is that of the stream.
    template <class Update>
    void run(int slabs, bool ascends, Update&& update) const {
        if (slabs > 1) {
            begin_.set(main_);
            begin_.make_wait(other_);
        }
        for (int k = 0; k < slabs; ++k) {
            const WorkStream& stream = k % 2 == 0 ? main_ : other_;  // after slab k - 2
            if (k >= 3) {
                done_[(k - 3) % 4].make_wait(stream);
            }
            update(ascends ? k : slabs - 1 - k, stream, k % 2);
            done_[k % 4].set(stream);
        }
        if (slabs > 1) {
            done_[(slabs % 2 == 0 ? slabs - 1 : slabs - 2) % 4].make_wait(main_);
        }
    }

private:
    const WorkStream& main_;
    WorkStream other_;
    mutable StreamEvent begin_, done_[4];  // of slabs, by their order
};

}  // namespace lbm::cuda
