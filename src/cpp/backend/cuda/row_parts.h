// Launches the updates of the interior and of the ends of its rows, where the interior of a block is trimmed in x.
#pragma once

#include "../row_box.h"
#include "kernel.h"
#include "kernels/arguments.h"
#include "launch_configuration.h"

namespace lbm::cuda {

/// The cells of a row that a kernel updates: all of them, or, where an interior is trimmed in x, the interior's cells,
/// or those at the row's ends.
enum class RowPart { Whole, Inner, Ends };

/// Launches the update of a part of the rows of the arguments; `interior` says where rows are divided. `concurrent` is
/// whether another kernel of the step may run meanwhile.
template <class Real>
void launch_part(const Kernel& kernel, const WorkStream& stream, const LaunchConfiguration& configuration, RowPart part,
                 const backend::Interior& interior, bool concurrent, const MultispeedArguments<Real>& a) {
    const int inner = interior.end_x - interior.first_x;
    MultispeedPartArguments<Real> cells{a, inner, 0, interior.first_x, (inner + 31) / 32 * 32};
    if (part == RowPart::Ends) {
        const int count = a.address.nx - inner;
        cells = {a, count, interior.first_x, inner, count};
    }
    const auto threads = unsigned(configuration.threads);
    const LaunchDimensions dimensions{unsigned((a.rows.count() * cells.row_threads + threads - 1) / threads), threads,
                                      1, !concurrent};
    kernel.launch(stream, dimensions, cells);
}

}  // namespace lbm::cuda
