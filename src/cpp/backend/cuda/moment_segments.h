// In which segments along the last axis a GPU sweeps tiles of moments, so that all multiprocessors are at work to the
// end.
#pragma once

#include <vector>

#include "../../lattice/portability.h"

namespace lbm::cuda {

/// What is swept: columns of `layers` layers, each segment of which takes 2 `steps` layers more than it stores, by as
/// many thread blocks at a time as the GPU has room for.
struct MomentSweeps {
    Index columns;
    int layers, steps;
    Index at_once;
    /// For how many layers others are at work before, of which one after the other makes room.
    int layers_before = 0;
    /// Whether others are swept behind it, so that multiprocessors that are done do not wait for the last ones.
    bool others_follow = false;
};

/// The layers of each segment, and how many layers are swept one after the other.
struct MomentSegments {
    std::vector<int> layers;
    double swept;
};

/// The segments with which the last thread block is done first. The first ones may be longer than those behind them:
/// few long ones sweep few layers twice, and short ones at the end keep all multiprocessors at work.
MomentSegments moment_segments(const MomentSweeps& sweeps);

/// The ends of the parts into which a run of layers is cut where segments end, at `ends`; no part of a longer run has
/// fewer than `least` layers.
std::vector<int> cut_at(const std::vector<int>& ends, int first, int end, int least);

}  // namespace lbm::cuda
