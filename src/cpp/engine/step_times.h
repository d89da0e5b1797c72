// The time that the parts of a step take: boundary, update and exchange.
#pragma once

#include <algorithm>

#include "../backend/block_state.h"

namespace lbm::engine {

struct PhaseTimes {
    double boundary = 0, update = 0;
    double exchange = 0;  // exchange during which nothing is updated
    double hidden = 0;    // exchange during the update of the interior; on the CPU, while messages may be in flight
    double shell = 0, interior = 0;  // the parts of the update, which may go on at the same time

    /// The times of the last step of a block, which must have recorded all timestamps.
    static PhaseTimes of_step(const backend::BlockState& block, bool has_interior) {
        double at[backend::timestamps_of_step];
        for (int k = 0; k < backend::timestamps_of_step; ++k) {
            at[k] = block.seconds_between(backend::Timestamp::Begun, backend::Timestamp(k));
        }
        if (!has_interior) {
            at[int(backend::Timestamp::InteriorBegun)] = at[int(backend::Timestamp::InteriorDone)] =
                at[int(backend::Timestamp::ShellDone)];
        }
        return between(at);
    }

    /// The times of a step whose timestamps are `at`, in seconds.
    static PhaseTimes between(const double (&at)[backend::timestamps_of_step]) {
        using backend::Timestamp;
        const double filled = at[int(Timestamp::Filled)], shell = at[int(Timestamp::ShellDone)];
        const double interior[2] = {at[int(Timestamp::InteriorBegun)], at[int(Timestamp::InteriorDone)]};
        const double exchanged = std::max(shell, at[int(Timestamp::Exchanged)]);
        const auto within = [&](double from, double to) {
            return std::max(0.0, std::min(interior[1], to) - std::max(interior[0], from));
        };
        PhaseTimes times;
        times.boundary = filled - at[int(Timestamp::Begun)];
        times.hidden = within(shell, exchanged);
        times.shell = shell - filled;
        times.interior = interior[1] - interior[0];
        times.update = times.shell + times.interior - within(filled, shell);
        times.exchange = exchanged - shell - times.hidden;
        return times;
    }

    /// Adds the times of `steps` steps that each took as long as `step`.
    void add(const PhaseTimes& step, double steps) {
        boundary += steps * step.boundary;
        update += steps * step.update;
        exchange += steps * step.exchange;
        hidden += steps * step.hidden;
        shell += steps * step.shell;
        interior += steps * step.interior;
    }
};

}  // namespace lbm::engine
