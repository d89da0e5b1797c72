// Divides the copies of an import between two blocks with late interiors into those of the exchange proper and those of
// the late exchange, and says why the order of both is right.
//
// A block whose rows are cut has links with other blocks at the ends of all rows. Rows without their ends would be an
// interior that no other block reads or writes, but on a GPU they cost more than they hide (interior.h). The rows of a
// late interior L are whole instead, and none has links with other blocks but at its ends. Those links are exchanged
// after L, while the next step updates the rows that do not need them. With B for the rows beside L, into whose ends
// links lead from late rows of other blocks, and F for all others, a GPU has for step n, on three streams:
//
//     main     boundaries(n)   L(n), after late(n - 1)   boundaries(n + 1)   L(n + 1), after late(n)
//     border   after the boundaries: F(n)   B(n), after late(n - 1)   event E(n)   copies(n), after E(n) of neighbours
//     late     after L(n) and copies(n): event A(n)   late(n), after A(n) of neighbours
//
// boundaries(n + 1) follow copies(n), but neither they nor F(n + 1) wait for late(n). A copy belongs to late(n) if its
// source is at the end of a row in L of the other block or its target at the end of a row in L of the own one. All
// links between a late row and another block cross a face of x, whatever faces redirect them, so their places are in
// x-face buffers: incoming ones, which only the own row's update reads and only imports write, and outgoing ones, which
// only the own row's update writes, apart for both phases or lattices. All other places are treated as without late
// interiors (halo_exchange.h). What remains is the buffers:
//
// - A source has been written. That of copies(n) is not at the end of a row in L, so F(n) or B(n) of the other block
//   has written it, before its E(n). That of late(n) may be of any row: E(n) of the other block has been waited for by
//   copies(n), which late(n) follows, and A(n) is after its L(n).
// - A target has been read in step n, by the update of its own row. That of copies(n) is in F or B, whose updates come
//   before on the same stream; that of late(n) is in L or B, and late(n) follows L(n) and, by copies(n), B(n).
// - What is brought is read after that. copies(n) end before boundaries(n + 1). Targets of late(n) are in L or B, whose
//   next updates wait for late(n). Boundaries would not: where a formula reads or replaces what a late copy brings,
//   late interiors are not possible. Nor are they where a late copy enters another row than those of L and B, as
//   between blocks of different sizes.
// - A source is not overwritten before it has been read. Step n + 1 writes the other lattice or the buffers of the
//   other phase. Step n + 2 of the source's block begins, with its boundaries, after its copies(n + 1), which waited
//   for E(n + 1) of the reader. That follows B(n + 1) of the reader, which waited for late(n) of the reader. There are
//   always rows in B, as L leaves out the first half of the layers.
//
// A state that is set, and the end of a run of steps, wait for all streams (EventSource::end_slot), so that the first
// exchange of a run follows all work before, and fields are read after all late copies. Steps are recorded from such a
// state on and end in one, so that no event that is waited for in a recording was recorded outside of it; between two
// replays all streams meet in the first block's main stream. Blocks on one GPU have streams and events of their own,
// and waiting is for events alone, all of which are recorded without waiting for what comes later: nothing can lock up.
// Between processes A(n), like E(n), has been recorded before the host of the reader makes a stream wait for it, by a
// signal of its own. An event is recorded anew two steps later: the signal for E(n + 1) of the reader, which the host
// of the source's block gets before that, is sent after the reader has been made to wait for A(n).
//
// A link through a buffer - to the CPU, in the host's memory, by a message - would need its host to pack and wait
// within the next step: such blocks must not be late. Blocks on CPUs beside them are asked for nothing, as they have no
// late interiors themselves and all of their links with GPUs are through buffers.
#pragma once

#include <algorithm>

#include "../backend/links.h"
#include "block_placement.h"
#include "copy_runs.h"

namespace lbm::engine {

struct LateCopies {
    backend::ByPhase<std::vector<backend::CopyRun>> early, late;
    bool are_possible = true;  // the late ones bring what only L and B of the importing block read

    /// `boundaries` is the plan of the importing block.
    LateCopies(const backend::ByPhase<std::vector<backend::CopyRun>>& copies, const std::vector<Phase>& phases,
               const BlockPlacement& from, const BlockPlacement& to, const backend::LinkPlan& boundaries)
        : early(phases), late(phases) {
        const Address& address = to.address;
        const backend::RowBox waiting =  // the rows that are updated after the late exchange
            to.late_rows.count() > 0 ? to.late_rows.grown(address.ny, address.nz) : backend::RowBox{};
        bool enters[2] = {false, false};  // whether late copies enter rows at their first, at their last cell
        for (const Phase phase : phases) {
            std::vector<Index> targets;
            for (const backend::CopyRun& run : copies[phase]) {
                for (Index k = 0; k < run.count; ++k) {
                    const Index source = run.source + k * run.source_stride;
                    const Index target = run.target + k * run.target_stride;
                    if (!from.is_at_end_of(from.late_rows, source) && !to.is_at_end_of(to.late_rows, target)) {
                        append(early[phase], target, source);
                        continue;
                    }
                    append(late[phase], target, source);
                    targets.push_back(target);
                    are_possible = are_possible && to.is_at_end_of(waiting, target);
                    enters[target < address.x_face_in(1, 0, 0, 0) ? 0 : 1] = true;
                }
            }
            cut_long_runs(early[phase]);
            cut_long_runs(late[phase]);
            std::sort(targets.begin(), targets.end());
            for (const backend::LinkOffsets& link : boundaries.wall_offsets[phase]) {
                are_possible = are_possible && !std::binary_search(targets.begin(), targets.end(), link.incoming);
            }
            for (const backend::CutPlaces& link : boundaries.cut_places[phase]) {
                are_possible = are_possible && !std::binary_search(targets.begin(), targets.end(), link.streamed);
            }
            for (const backend::SheetPlaces& link : boundaries.sheet_places[phase]) {
                for (const Index streamed : link.streamed) {
                    are_possible = are_possible && !std::binary_search(targets.begin(), targets.end(), streamed);
                }
            }
        }
        const auto is_entered = [&](const auto& cell) {
            return waiting.holds(cell.y, cell.z) &&
                   ((enters[0] && cell.x == 0) || (enters[1] && cell.x == address.nx - 1));
        };
        are_possible = are_possible &&
                       std::none_of(boundaries.boundary_cells.begin(), boundaries.boundary_cells.end(), is_entered) &&
                       std::none_of(boundaries.sponge_cells.begin(), boundaries.sponge_cells.end(), is_entered);
    }
};

}  // namespace lbm::engine
