// Collects copies between places of a lattice into runs with constant strides.
#pragma once

#include <vector>

#include "../backend/links.h"

namespace lbm::engine {

/// Appends a copy: lengthens the last run if the copy continues it, else starts a new one.
void append(std::vector<backend::CopyRun>& runs, Index target, Index source);

/// Cuts long runs into shorter ones, so that threads share them evenly.
void cut_long_runs(std::vector<backend::CopyRun>& runs);

}  // namespace lbm::engine
