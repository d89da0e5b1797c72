// A stream beside another one, and the event for which that one waits.
#pragma once

#include "device.h"

namespace lbm::cuda {

/// Of high priority: its thread blocks begin before those of the interior that wait too.
struct BranchStream {
    WorkStream stream;
    StreamEvent done;

    explicit BranchStream(int ordinal) : stream(ordinal, Priority::High), done(ordinal) {}

    /// Makes further work of `main` wait for the work so far.
    void join(const WorkStream& main) {
        done.set(stream);
        done.make_wait(main);
    }
};

}  // namespace lbm::cuda
