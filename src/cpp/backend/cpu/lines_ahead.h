// Prefetches of the memory that a row of cells reads and writes, some rows ahead and in the order of memory.
//
// The Q streams of a row are too many and too short for a processor's own prefetchers, which learn a stream anew in
// each page of 4 KiB. Lines that are asked for one after the other as they lie in memory let them help, and the memory
// serves them faster. Two cores of an Intel Xeon with AVX-512, beside packs that each ask for the row above their own:
// D3Q19 in float32 is 8 % faster in place and 45 % faster from lattice to lattice, D3Q27 11 and 44 %, float16 8 and 20
// %. What bounds them then are the lines that a core has in flight for its first-level cache, of which a prefetch takes
// one too.
#pragma once

#include "../../lattice/streaming.h"
#include "kernels.h"
#include "row_after.h"

namespace lbm::cpu {
namespace {

/// From population 0 of a row to the row of the slot that belongs to population i.
template <class S>
LBM_HD Index row_offset(const Address& address, NeighborSlot place, int i) {
    const Index rows = Index(S::c[i][2]) * (address.ny + 2 * address.halo_y) + S::c[i][1];
    return place.slot * address.population_stride + place.shift * rows * address.row_stride;
}

template <class S, class Storage>
class LinesAhead {
public:
    /// For packs of `cells` cells.
    LBM_HD LinesAhead(const UpdateArguments& a, int cells)
        : a_(a),
          is_worthwhile_(a.bypasses_caches && a.phase != Phase::AAOdd && 2 * (a.end_x - a.first_x) > a.address.nx),
          target_of_row_{0, a.phase == Phase::TwoLattice ? S::Q * lines(a.address.pitch) : 0} {
        if (!is_worthwhile_) {
            return;
        }
        Index offsets[S::Q];  // of incoming populations from those of their own row, in ascending order
        for (int i = 0; i < S::Q; ++i) {
            const Index offset = row_offset<S>(a.address, incoming_slot<S>(a.phase, i), i);
            int at = i;
            for (; at > 0 && offsets[at - 1] > offset; --at) {
                offsets[at] = offsets[at - 1];
            }
            offsets[at] = offset;
        }
        const Index of_row = lines(a.address.pitch);
        for (const Index offset : offsets) {
            Span& last = spans_[count_ > 0 ? count_ - 1 : 0];
            if (count_ > 0 && last.first + last.lines * of_line == offset) {
                last.lines += of_row;
            } else {
                spans_[count_++] = {offset, of_row};
            }
        }
        const Index packs = (a.end_x - a.first_x + cells - 1) / cells;
        of_pack_ = (S::Q * of_row + packs - 1) / packs;
    }

    /// Whether they make an update faster: of most of each row, as a part of one would ask for all of it. Lattices in
    /// the caches have nothing to wait for, and odd steps in place read what lies in short runs around each row.
    LBM_HD bool is_worthwhile() const { return is_worthwhile_; }

    /// Begins with what the row `rows` after row (y, z) reads and, in another lattice, writes.
    LBM_HD void begin_row(int y, int z) {
        row_ = row_after(a_.address, y, z, rows);
        current_ = 0;
        source_ = spans_[0];
        target_ = target_of_row_;
    }

    /// Prefetches the part of a pack to the second-level cache.
    LBM_HD void prefetch_part() {
        const Storage* source = static_cast<const Storage*>(a_.source) + row_;
        Index left = of_pack_;
        while (left > 0 && current_ < count_) {
            left -= prefetch_of(source, source_, left);
            if (source_.lines == 0 && ++current_ < count_) {
                source_ = spans_[current_];
            }
        }
        prefetch_of(static_cast<const Storage*>(a_.target) + row_, target_, of_pack_);
    }

private:
    static constexpr Index of_line = 64 / Index(sizeof(Storage));
    static constexpr int rows = 3;

    /// Memory from a row on: its first number, and its lines.
    struct Span {
        Index first, lines;
    };

    LBM_HD static Index lines(Index numbers) { return numbers / of_line; }

    /// Prefetches so many lines of a span, as far as it has them, and leaves the others. Returns how many.
    LBM_HD static Index prefetch_of(const Storage* row, Span& span, Index most) {
        const Index count = most < span.lines ? most : span.lines;
        const Storage* line = row + span.first;
        for (Index k = 0; k < count; ++k, line += of_line) {
            __builtin_prefetch(line, 1, 2);
        }
        span = {span.first + count * of_line, span.lines - count};
        return count;
    }

    const UpdateArguments& a_;
    bool is_worthwhile_;
    Index of_pack_ = 0;            // lines for each pack
    Span spans_[S::Q];             // that a row reads, in ascending order
    int count_ = 0, current_ = 0;  // of the spans, and among them
    Span target_of_row_;           // that a row writes
    Span source_{}, target_{};     // what is left of the current span, and of what the row writes
    Index row_ = 0;
};

}  // namespace
}  // namespace lbm::cpu
