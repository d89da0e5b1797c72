// Finds by measurement which shape of its launches an update is fastest with on a GPU, and remembers it.
#pragma once

#include <string>
#include <vector>

#include "launch_configuration.h"

namespace lbm::cuda {

struct ShapeTiming {
    Phase phase;
    LaunchConfiguration shape;
    double seconds;  // a step; 0 for a kernel that spills too much to be timed
    int registers;
    int local_bytes;
    bool best;  // of its phase
};

/// Times every possible shape in every phase for about `seconds` each, and keeps the best of each phase with the
/// compiled kernels, for blocks of this kind and width on GPUs of this name. Needs the memory of such a block.
/// All phases of `kind`, whose force is none or uniform.
std::vector<ShapeTiming> tune(const backend::BlockSpec& spec, const UpdateKind& kind, int ordinal, double seconds);

/// The shape for a block: LBMGPU_UPDATE_SHAPE=lanes,threads,blocks, else what tune() has found with these sources and
/// this compiler, else the usual one. Throws std::invalid_argument where that variable makes no sense.
LaunchConfiguration chosen_shape(const backend::BlockSpec& spec, const UpdateKind& kind, const std::string& gpu);

}  // namespace lbm::cuda
