// A subset of a block's rows as contiguous ranges, which threads share evenly.
#pragma once

#include <algorithm>
#include <vector>

#include "../row_box.h"

namespace lbm::cpu {

class RowRanges {
public:
    /// The rows of a box with steps of 1, in a block with ny rows per layer z.
    static RowRanges of(int ny, const backend::RowBox& box) {
        RowRanges ranges;
        for (int z = box.z; z < box.z + box.nz; ++z) {
            const Index start = Index(z) * ny + box.y;
            ranges.add(start, start + box.ny);
        }
        return ranges;
    }

    /// The rows of a block that are not in such a box: the shell around an interior.
    static RowRanges around(int ny, int nz, const backend::RowBox& box) {
        RowRanges ranges;
        Index end = 0;
        for (const Range& hole : of(ny, box).ranges_) {
            ranges.add(end, hole.first);
            end = hole.last;
        }
        ranges.add(end, Index(ny) * nz);
        return ranges;
    }

    Index rows() const { return ranges_.empty() ? 0 : ranges_.back().before + ranges_.back().size(); }

    /// Calls visit(first, last) with contiguous ranges of the block's rows that make up the rows [first, last) of this
    /// subset.
    template <class Visit>
    void visit(Index first, Index last, Visit&& visit) const {
        auto range = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const Range& r) { return r.before + r.size() <= first; });
        for (; range != ranges_.end() && range->before < last; ++range) {
            visit(range->first + std::max(Index(0), first - range->before),
                  range->first + std::min(range->size(), last - range->before));
        }
    }

private:
    struct Range {
        Index first, last;
        Index before;  // rows in all previous ranges

        Index size() const { return last - first; }
    };

    void add(Index first, Index last) {
        if (first == last) {
            return;
        }
        if (!ranges_.empty() && ranges_.back().last == first) {
            ranges_.back().last = last;
        } else {
            ranges_.push_back({first, last, rows()});
        }
    }

    std::vector<Range> ranges_;
};

}  // namespace lbm::cpu
