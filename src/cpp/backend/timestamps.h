// The moments of a step between which its phases lie.
#pragma once

namespace lbm::backend {

/// In the order in which they are asked for. Where the shell and the interior are updated side by side, so are their
/// times.
enum class Timestamp { Begun, Filled, ShellDone, InteriorBegun, InteriorDone, Exchanged };
constexpr int timestamps_of_step = 6;

}  // namespace lbm::backend
