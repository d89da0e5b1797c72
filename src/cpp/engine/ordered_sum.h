// Sums over the cells of the domain in the order of its cells, whose rounding therefore does not depend on the layout.
#pragma once

#include <functional>
#include <vector>

#include "../comm/communicator.h"
#include "layout.h"

namespace lbm::engine {

/// Cells that follow each other in the order of the domain: the rows from first to last - 1 along y and z, which pass
/// through these blocks in the order of x. There are several rows along z only where they have all of y.
struct RowRun {
    std::vector<int> blocks;
    int y[2], z[2];
};

/// Cells of a run of several blocks: so many that a message takes far longer than its latency, and 2 MiB of numbers.
constexpr int cells_of_run = 1 << 18;

/// Calls visit(run) for runs of rows that together are all cells of the domain in their order, x fastest.
void for_row_runs(const Layout& layout, const std::function<void(const RowRun&)>& visit);

/// The numbers of this rank's cells, which a sum is over.
struct RowValues {
    /// Returns the sum so far with the cells of a run of one block.
    std::function<double(const RowRun& run, double sum)> add;
    /// Writes the numbers of a row of a block, 0 for cells that do not count.
    std::function<void(int block, int y, int z, double* values)> copy;
};

/// A sum over all cells. Each rank goes on from the sum of the one before; of rows that pass through several blocks the
/// rank of the first block is sent the numbers of the others and adds them all. Collective.
double ordered_sum(const Layout& layout, const comm::Communicator& comm, const RowValues& values);

/// `value` added to 0 so many times, rounded after each; for positive values in a time that hardly depends on `count`.
double repeated_sum(double value, Index count);

}  // namespace lbm::engine
