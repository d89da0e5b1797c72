// Finds the runs of rows, and hands the sum from rank to rank.
#include "ordered_sum.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

namespace lbm::engine {
namespace {

/// The places along an axis at which some block begins or ends, in order.
std::vector<int> edges(const Layout& layout, int axis) {
    std::vector<int> all;
    for (const Block& block : layout.blocks()) {
        all.push_back(block.offset[axis]);
        all.push_back(block.offset[axis] + block.size[axis]);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

/// The blocks that rows at (y, z) pass through, in the order of x.
std::vector<int> blocks_at(const Layout& layout, int y, int z) {
    std::vector<int> found;
    const auto holds = [](const Block& block, int axis, int at) {
        return at >= block.offset[axis] && at < block.offset[axis] + block.size[axis];
    };
    for (std::size_t k = 0; k < layout.blocks().size(); ++k) {
        const Block& block = layout.blocks()[k];
        if (holds(block, 1, y) && holds(block, 2, z)) {
            found.push_back(int(k));
        }
    }
    std::sort(found.begin(), found.end(), [&](int a, int b) {
        return layout.blocks()[std::size_t(a)].offset[0] < layout.blocks()[std::size_t(b)].offset[0];
    });
    return found;
}

/// One number that comes from another rank or goes there.
class Channel {
public:
    Channel(const comm::Communicator& comm, int other, bool receives)
        : receives_(receives),
          exchange_(comm.exchange(receives ? one(other) : std::vector<comm::Message>{},
                                  receives ? std::vector<comm::Message>{} : one(other))) {}

    double receive() {
        exchange_->start_receives();
        exchange_->finish();
        return *number_;
    }
    void send(double number) {
        *number_ = number;
        exchange_->start_sends();
        exchange_->finish();
    }

private:
    std::vector<comm::Message> one(int other) { return {{number_.get(), sizeof(double), other, 0}}; }

    std::unique_ptr<double> number_ = std::make_unique<double>(0);
    bool receives_;
    std::unique_ptr<comm::Exchange> exchange_;
};

}  // namespace

void for_row_runs(const Layout& layout, const std::function<void(const RowRun&)>& visit) {
    const std::vector<int> y_edges = edges(layout, 1), z_edges = edges(layout, 2);
    for (std::size_t j = 0; j + 1 < z_edges.size(); ++j) {
        const int z_first = z_edges[j], z_last = z_edges[j + 1];
        std::vector<std::vector<int>> blocks;  // by range of y
        for (std::size_t i = 0; i + 1 < y_edges.size(); ++i) {
            blocks.push_back(blocks_at(layout, y_edges[i], z_first));
        }
        if (blocks.size() == 1 && blocks[0].size() == 1) {
            visit({blocks[0][0], {y_edges[0], y_edges[1]}, {z_first, z_last}});
            continue;
        }
        for (int z = z_first; z < z_last; ++z) {
            for (std::size_t i = 0; i < blocks.size(); ++i) {
                if (blocks[i].size() == 1) {
                    visit({blocks[i][0], {y_edges[i], y_edges[i + 1]}, {z, z + 1}});
                    continue;
                }
                for (int y = y_edges[i]; y < y_edges[i + 1]; ++y) {
                    for (const int block : blocks[i]) {
                        visit({block, {y, y + 1}, {z, z + 1}});
                    }
                }
            }
        }
    }
}

double ordered_sum(const Layout& layout, const comm::Communicator& comm,
                   const std::function<double(const RowRun&, double)>& add) {
    std::map<int, Channel> from, to;
    double sum = 0;
    int holder = -1;  // the rank that has the sum so far; -1 before the first run
    for_row_runs(layout, [&](const RowRun& run) {
        const int rank = layout.blocks()[std::size_t(run.block)].rank;
        if (holder >= 0 && rank != holder) {
            if (rank == comm.rank()) {
                sum = from.try_emplace(holder, comm, holder, true).first->second.receive();
            } else if (holder == comm.rank()) {
                to.try_emplace(rank, comm, rank, false).first->second.send(sum);
            }
        }
        holder = rank;
        if (rank == comm.rank()) {
            sum = add(run, sum);
        }
    });
    double total = holder == comm.rank() ? sum : 0;
    comm.sum(&total, 1);
    return total;
}

double repeated_sum(double value, Index count) {
    if (!(value > 0) || !std::isfinite(value)) {
        return value * double(count);
    }
    double sum = 0;
    while (count > 0) {
        const double before = sum;
        sum += value;
        --count;
        // Sums between two powers of two are multiples of the same unit, and grow by the same number of units each
        // time: where a value lies half-way between two of them, once the sum is even.
        const double step = (sum + value) - sum, limit = std::ldexp(1.0, std::ilogb(sum) + 1);
        if (count < 4 || std::ilogb(before) != std::ilogb(sum) || step == 0) {
            continue;
        }
        const Index more = std::min(count, Index((limit - sum) / step) - 2);
        if (more > 0) {
            sum += double(more) * step;
            count -= more;
        }
    }
    return sum;
}

}  // namespace lbm::engine
