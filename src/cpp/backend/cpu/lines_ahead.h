// Prefetches of the memory that a row of cells reads and writes, some rows ahead and in the order of memory.
//
// The Q streams of a row are too many and too short for a processor's own prefetchers, which learn a stream anew in
// each page of 4 KiB. Lines that are asked for one after the other as they lie in memory let them help, and the memory
// serves them faster. Two cores of an Intel Xeon with AVX-512, beside packs that ask for the cells above their own:
// D3Q19 in float32 is 8 % faster in place and 45 % faster from lattice to lattice, D3Q27 11 and 44 %, float16 8 and 20
// %. What bounds them then are the lines that a core has in flight for its first-level cache, of which a prefetch takes
// one too.
#pragma once

#include "../../lattice/streaming.h"
#include "kernels.h"

namespace lbm::cpu {
namespace {

template <class S, class Storage>
class LinesAhead {
public:
    /// Whether an update gains by them. Lattices in the caches have nothing to wait for, and odd steps in place read
    /// what lies in short runs around each row.
    LBM_HD static bool gain_in(const UpdateArguments& a) { return a.bypasses_caches && a.phase != Phase::AAOdd; }

    /// For packs of `cells` cells.
    LBM_HD LinesAhead(const UpdateArguments& a, int cells)
        : a_(a), target_span_{0, a.phase == Phase::TwoLattice ? S::Q * lines(a.address.pitch) : 0} {
        Index offsets[S::Q];  // of incoming populations from those of their own row, in ascending order
        for (int i = 0; i < S::Q; ++i) {
            const NeighborSlot slot = incoming_slot<S>(a.phase, i);
            const Index rows = Index(S::c[i][2]) * (a.address.ny + 2 * a.address.halo_y) + S::c[i][1];
            const Index offset = slot.slot * a.address.population_stride + slot.shift * rows * a.address.row_stride;
            int at = i;
            for (; at > 0 && offsets[at - 1] > offset; --at) {
                offsets[at] = offsets[at - 1];
            }
            offsets[at] = offset;
        }
        const Index of_row = lines(a.address.pitch);
        for (const Index offset : offsets) {
            if (spans_ > 0 && all_[spans_ - 1].first + all_[spans_ - 1].lines * of_line == offset) {
                all_[spans_ - 1].lines += of_row;
            } else {
                all_[spans_++] = {offset, of_row};
            }
        }
        const Index packs = (a.end_x - a.first_x + cells - 1) / cells;
        each_ = packs > 0 ? (S::Q * of_row + packs - 1) / packs : 0;
    }

    /// Begins with what the row `rows` after row (y, z) reads and, in another lattice, writes.
    LBM_HD void enter(int y, int z) {
        for (int k = 0; k < rows; ++k) {
            y = y + 1 < a_.address.ny ? y + 1 : 0;
            z += y == 0;
        }
        row_ = a_.address.row(y, z, 0);
        span_ = 0;
        now_ = all_[0];
        target_ = target_span_;
    }

    /// Asks for the part of a pack. They go to the second-level cache, which can have more lines in flight than the
    /// first-level cache.
    LBM_HD void ask() {
        const Storage* source = static_cast<const Storage*>(a_.source) + row_;
        Index left = each_;
        while (left > 0 && span_ < spans_) {
            left -= ask_of(source, now_, left);
            if (now_.lines == 0) {
                ++span_;
                now_ = all_[span_ < spans_ ? span_ : 0];
            }
        }
        // With so many streams this is faster than to write past the caches.
        ask_of(static_cast<const Storage*>(a_.target) + row_, target_, each_);
    }

private:
    static constexpr Index of_line = 64 / Index(sizeof(Storage));
    static constexpr int rows = 3;

    /// Memory from a row on: its first number, and its lines.
    struct Span {
        Index first, lines;
    };

    LBM_HD static Index lines(Index numbers) { return numbers / of_line; }

    /// Asks for so many lines of a span, as far as it has them, and leaves the others. Returns how many.
    LBM_HD static Index ask_of(const Storage* row, Span& span, Index most) {
        const Index count = most < span.lines ? most : span.lines;
        const Storage* line = row + span.first;
        for (Index k = 0; k < count; ++k, line += of_line) {
            __builtin_prefetch(line, 1, 2);
        }
        span = {span.first + count * of_line, span.lines - count};
        return count;
    }

    const UpdateArguments& a_;
    Index each_;                // lines for each pack
    Span all_[S::Q];            // that a row reads, in ascending order
    int spans_ = 0, span_ = 0;  // how many there are, and which of them is the current one
    Span target_span_;          // that a row writes
    Span now_{}, target_{};     // what is left to be asked for
    Index row_ = 0;
};

}  // namespace
}  // namespace lbm::cpu
