// Divides copies from a block with a late interior into those from its shell and those from the interior.
#pragma once

#include <algorithm>

#include "../backend/links.h"
#include "block_placement.h"
#include "copy_runs.h"

namespace lbm::engine {

struct LateCopies {
    backend::ByPhase<std::vector<backend::CopyRun>> early, late;
    bool at_start = false;  // the late ones go where the next step's first rows, or its boundaries, read

    LateCopies(const backend::ByPhase<std::vector<backend::CopyRun>>& copies, const std::vector<Phase>& phases,
               const BlockPlacement& from, const BlockPlacement& to, const backend::LinkPlan& boundaries)
        : early(phases), late(phases) {
        bool enters[2] = {false, false};  // at the first cells of rows, at the last ones
        for (const Phase phase : phases) {
            for (const backend::CopyRun& run : copies[phase]) {
                for (Index k = 0; k < run.count; ++k) {
                    const Index source = run.source + k * run.source_stride;
                    const Index target = run.target + k * run.target_stride;
                    const bool is_late = from.is_late(source);
                    append((is_late ? late : early)[phase], target, source);
                    if (is_late) {
                        take(to, target, enters);
                    }
                }
            }
            cut_long_runs(early[phase]);
            cut_long_runs(late[phase]);
        }
        const auto is_at_end = [&](const auto& cell) {
            return to.address.nx < 4 || (enters[0] && cell.x == 0) || (enters[1] && cell.x == to.address.nx - 1);
        };
        const auto reads = [&](const backend::WallCell& cell) { return cell.needs_moments && is_at_end(cell); };
        at_start = at_start || std::any_of(boundaries.wall_cells.begin(), boundaries.wall_cells.end(), reads) ||
                   std::any_of(boundaries.second_pass_cells.begin(), boundaries.second_pass_cells.end(), is_at_end) ||
                   std::any_of(boundaries.boundary_cells.begin(), boundaries.boundary_cells.end(), is_at_end);
    }

private:
    /// Notes where the target of a late copy is read: at an end of a row of the importing block, in whose late rows, or
    /// in those beside them, or else at the start of the step.
    void take(const BlockPlacement& to, Index target, bool (&enters)[2]) {
        const Address& a = to.address;
        const bool in_buffer = target >= a.x_face_buffers && target < a.x_face_end();
        if (to.late_rows.count() == 0 || !in_buffer) {
            at_start = true;
            return;
        }
        const Index row = (target - a.x_face_buffers) % a.x_face_stride();
        enters[(target - a.x_face_buffers) / (a.through_x_face * a.x_face_stride())] = true;
        at_start =
            at_start || !backend::Shell::grown(a.ny, a.nz, to.late_rows, 1).holds(int(row % a.ny), int(row / a.ny));
    }
};

}  // namespace lbm::engine
