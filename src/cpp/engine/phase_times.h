// The time that the phases of steps take.
#pragma once

#include <algorithm>

#include "../backend/block_state.h"

namespace lbm::engine {

struct PhaseTimes {
    double boundary = 0, update = 0;
    double exchange = 0;  // in which nothing is updated
    double hidden = 0;    // of the exchange, while the interior is updated

    /// Of the last step of a block that noted all its moments.
    static PhaseTimes of_step(const backend::BlockState& block) {
        using backend::Moment;
        const auto at = [&](Moment moment) { return block.seconds_between(Moment::Begun, moment); };
        const double filled = at(Moment::Filled), shell = at(Moment::ShellDone);
        const double interior[2] = {at(Moment::InteriorBegun), at(Moment::InteriorDone)};
        const double exchanged = std::max(shell, at(Moment::Exchanged));
        const auto within = [&](double from, double to) {
            return std::max(0.0, std::min(interior[1], to) - std::max(interior[0], from));
        };
        PhaseTimes times;
        times.boundary = filled;
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
