// Sums over the cells of the domain in the order of its cells, whose rounding therefore does not depend on the layout.
#pragma once

#include <functional>

#include "../comm/communicator.h"
#include "layout.h"

namespace lbm::engine {

/// Cells that follow each other in the order of the domain: the rows from first to last - 1 along y and z of a block.
/// There are several rows along z only where they have all of y, and several along y only where they have all of x.
struct RowRun {
    int block;
    int y[2], z[2];
};

/// Calls visit(run) for runs of rows that together are all cells of the domain in their order, x fastest.
void for_row_runs(const Layout& layout, const std::function<void(const RowRun&)>& visit);

/// A sum over all cells: add(run, sum so far) returns the sum with the cells of a run of this rank. Each rank goes on
/// from the sum of the one before. Collective.
double ordered_sum(const Layout& layout, const comm::Communicator& comm,
                   const std::function<double(const RowRun&, double)>& add);

/// `value` added to 0 so many times, rounded after each; for positive values in a time that hardly depends on `count`.
double repeated_sum(double value, Index count);

}  // namespace lbm::engine
