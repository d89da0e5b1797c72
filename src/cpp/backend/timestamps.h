// The timestamps of a step, which delimit its parts.
#pragma once

namespace lbm::backend {

/// Timestamps in the order in which they are recorded. If shell and interior are updated concurrently, their times
/// overlap.
enum class Timestamp { Begun, Filled, ShellDone, InteriorBegun, InteriorDone, Exchanged };
constexpr int timestamps_of_step = 6;

}  // namespace lbm::backend
