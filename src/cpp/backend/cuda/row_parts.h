// Launches the updates of whole rows, or, where the interior is trimmed in x, of the interior and of the ends of its
// rows.
#pragma once

#include "../row_box.h"
#include "kernel.h"
#include "kernels/arguments.h"
#include "launch_configuration.h"

namespace lbm::cuda {

/// Launches an update of the rows of the arguments, with the kernel and the configuration of the part; `interior` says
/// where rows are divided. `concurrent` is whether another kernel of the step may run meanwhile.
template <class Real, class Parameters>
void launch_part(const Kernel& kernel, const WorkStream& stream, const LaunchConfiguration& configuration, RowPart part,
                 const backend::Interior& interior, bool concurrent, const UpdateArguments<Real, Parameters>& a) {
    using Inner = PartArguments<Real, Parameters, RowPart::Inner>;
    using Ends = PartArguments<Real, Parameters, RowPart::Ends>;
    static_assert(sizeof(Inner) == sizeof a + 2 * sizeof(int), "host and device agree where the members are");
    const Index rows = a.rows.count();
    const int inner = interior.end_x - interior.first_x;
    LaunchDimensions dimensions;
    if (part == RowPart::Ends) {
        const auto threads = unsigned(configuration.threads);
        dimensions = {unsigned((rows * (a.address.nx - inner) + threads - 1) / threads), threads, 1};
    } else {
        dimensions = update_launch(part == RowPart::Inner ? inner : a.address.nx, configuration, rows);
    }
    dimensions.programmatic_launch = !concurrent;
    if (part == RowPart::Whole) {
        kernel.launch(stream, dimensions, a);
    } else if (part == RowPart::Inner) {
        kernel.launch(stream, dimensions, Inner{a, interior.first_x, interior.end_x});
    } else {
        kernel.launch(stream, dimensions, Ends{a, interior.first_x, interior.end_x});
    }
}

template <class Real>
void launch_part(const Kernel& kernel, const WorkStream& stream, const LaunchConfiguration& configuration, RowPart part,
                 const backend::Interior& interior, bool concurrent, const MultispeedArguments<Real>& a) {
    if (part == RowPart::Whole) {
        LaunchDimensions dimensions = update_launch(a.address.nx, configuration, a.rows.count());
        dimensions.programmatic_launch = !concurrent;
        kernel.launch(stream, dimensions, a);
        return;
    }
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
