// The time that the phases of steps take.
#pragma once

#include <algorithm>

#include "../backend/block_state.h"

namespace lbm::engine {

struct PhaseTimes {
    double boundary = 0, update = 0;
    double exchange = 0;  // in which nothing is updated
    double hidden = 0;    // while the interior is; on the CPU as long as messages may be on their way

    /// Of the last step of a block that noted all its moments.
    static PhaseTimes of_step(const backend::BlockState& block, bool has_interior) {
        double at[backend::moments_of_step];
        for (int k = 0; k < backend::moments_of_step; ++k) {
            at[k] = block.seconds_between(backend::Moment::Begun, backend::Moment(k));
        }
        if (!has_interior) {
            at[int(backend::Moment::InteriorBegun)] = at[int(backend::Moment::InteriorDone)] =
                at[int(backend::Moment::ShellDone)];
        }
        return between(at);
    }

    /// Of a step with its moments at these times.
    static PhaseTimes between(const double (&at)[backend::moments_of_step]) {
        using backend::Moment;
        const double filled = at[int(Moment::Filled)], shell = at[int(Moment::ShellDone)];
        const double interior[2] = {at[int(Moment::InteriorBegun)], at[int(Moment::InteriorDone)]};
        const double exchanged = std::max(shell, at[int(Moment::Exchanged)]);
        const auto within = [&](double from, double to) {
            return std::max(0.0, std::min(interior[1], to) - std::max(interior[0], from));
        };
        PhaseTimes times;
        times.boundary = filled - at[int(Moment::Begun)];
        times.hidden = within(shell, exchanged);
        times.update = shell - filled + (interior[1] - interior[0]) - within(filled, shell);
        times.exchange = exchanged - shell - times.hidden;
        return times;
    }

    /// Adds those of so many steps.
    void add(const PhaseTimes& step, double steps) {
        boundary += steps * step.boundary;
        update += steps * step.update;
        exchange += steps * step.exchange;
        hidden += steps * step.hidden;
    }
};

}  // namespace lbm::engine
