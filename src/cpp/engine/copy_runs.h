// Copies collected into equally spaced runs.
#pragma once

#include <vector>

#include "../backend/links.h"

namespace lbm::engine {

/// Appends a copy, lengthening the last run where it continues it.
void append(std::vector<backend::CopyRun>& runs, Index target, Index source);

/// Long runs are cut, so that threads share them evenly.
void cut_long_runs(std::vector<backend::CopyRun>& runs);

}  // namespace lbm::engine
