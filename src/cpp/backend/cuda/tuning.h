// Measures which launch configuration of an update kernel is the fastest on a GPU, and stores the result.
#pragma once

#include <string>
#include <vector>

#include "launch_configuration.h"

namespace lbm::cuda {

struct ConfigurationTiming {
    Phase phase;
    bool renews_terms;  // whether it is of updates that compute what they take of velocity gradients
    LaunchConfiguration configuration;
    double seconds;  // per step; 0 for a kernel that spills too much to be measured
    int registers;
    int local_bytes;
    bool best;  // whether it is the best of its phase and kind of update
};

/// Measures every possible launch configuration in every phase for about `seconds` each, and stores the best of each
/// phase in the cache of compiled kernels, for blocks of this kind and row length on GPUs of this name; so too for
/// updates that renew what is taken of velocity gradients, and for those between them. Needs the memory of such a
/// block. Of `kind` the force, which must be none or uniform, and the end sums are used.
std::vector<ConfigurationTiming> tune(const backend::BlockSpec& spec, const UpdateKind& kind, int ordinal,
                                      double seconds);

/// The launch configuration for a block: that of LBMGPU_UPDATE_SHAPE=cells_per_thread,threads,blocks if set, else what
/// tune() has found with these sources and this compiler, else the default. Throws std::invalid_argument if the
/// variable is not valid.
LaunchConfiguration chosen_configuration(const backend::BlockSpec& spec, const UpdateKind& kind,
                                         const std::string& gpu);

}  // namespace lbm::cuda
