// Copy runs joined into boxes of memory, each of which a GPU's copy engine copies at once.
#pragma once

#include <optional>
#include <vector>

#include "../link_data.h"

namespace lbm::cuda {

/// Rows of `count` contiguous numbers, `rows` of them in each of `layers` layers; distances are in numbers.
struct CopyBox {
    struct Side {
        Index first, row, layer;  // the first number, and the distances between rows and between layers

        bool operator==(const Side&) const = default;
    };
    Side target, source;
    Index count, rows, layers;

    bool operator==(const CopyBox&) const = default;
};

/// The boxes that make the same copies as `runs`, in any order. None where they would be many, each of which is a call
/// of the driver, or of rows so short that a copy engine wastes its time on them: then the threads of a kernel do
/// better. No two runs may have a target in common.
std::optional<std::vector<CopyBox>> copy_boxes(const std::vector<backend::CopyRun>& runs);

}  // namespace lbm::cuda
