// Finds the runs of rows, hands the sum from rank to rank, and collects the rows that are cut.
#include "ordered_sum.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
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
class RankChannel {
public:
    RankChannel(const comm::Communicator& comm, int other, bool receives)
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

/// Rows that are cut, on the rank of the first block, which adds them, or on one that sends it the numbers of others.
class CutRows {
public:
    CutRows(const Layout& layout, const comm::Communicator& comm, const RowRun& run) {
        const int adding = layout.blocks()[std::size_t(run.blocks[0])].rank, rows = run.y[1] - run.y[0];
        adds_ = adding == comm.rank();
        std::vector<comm::Message> receives, sends;
        for (const int number : run.blocks) {
            const Block& block = layout.blocks()[std::size_t(number)];
            const bool own = block.rank == comm.rank();
            if (!own && !adds_) {
                continue;
            }
            parts_.push_back({number, block.size[0], own, std::vector<double>(std::size_t(rows) * block.size[0])});
            std::vector<double>& numbers = parts_.back().numbers;
            if (!own) {
                receives.push_back({numbers.data(), numbers.size() * sizeof(double), block.rank, 0});
            } else if (!adds_) {
                sends.push_back({numbers.data(), numbers.size() * sizeof(double), adding, 0});
            }
        }
        if (!receives.empty() || !sends.empty()) {
            exchange_ = comm.exchange(receives, sends);
        }
    }

    /// Returns the sum so far with the cells of the run on the rank that adds them, `sum` elsewhere.
    double add(const RowRun& run, const RowValues& values, double sum) {
        if (exchange_ != nullptr) {
            exchange_->start_receives();
        }
        for (Part& part : parts_) {
            for (int y = run.y[0]; part.own && y < run.y[1]; ++y) {
                values.copy(part.block, y, run.z[0], part.row(y - run.y[0]));
            }
        }
        if (exchange_ != nullptr) {
            exchange_->start_sends();
            exchange_->finish();
        }
        for (int row = 0; adds_ && row < run.y[1] - run.y[0]; ++row) {
            for (Part& part : parts_) {
                const double* numbers = part.row(row);
                for (int x = 0; x < part.length; ++x) {
                    sum += numbers[x];
                }
            }
        }
        return sum;
    }

private:
    struct Part {
        int block, length;
        bool own;
        std::vector<double> numbers;

        double* row(int number) { return numbers.data() + std::size_t(number) * std::size_t(length); }
    };

    bool adds_ = false;
    std::vector<Part> parts_;  // its growth leaves the numbers where they are
    std::unique_ptr<comm::Exchange> exchange_;
};

}  // namespace

void for_row_runs(const Layout& layout, const std::function<void(const RowRun&)>& visit) {
    const std::vector<int> y_edges = edges(layout, 1), z_edges = edges(layout, 2);
    const int row_length = edges(layout, 0).back();
    for (std::size_t j = 0; j + 1 < z_edges.size(); ++j) {
        const int z_first = z_edges[j], z_last = z_edges[j + 1];
        std::vector<std::vector<int>> blocks;  // by range of y
        for (std::size_t i = 0; i + 1 < y_edges.size(); ++i) {
            blocks.push_back(blocks_at(layout, y_edges[i], z_first));
        }
        if (blocks.size() == 1 && blocks[0].size() == 1) {
            visit({blocks[0], {y_edges[0], y_edges[1]}, {z_first, z_last}});
            continue;
        }
        for (int z = z_first; z < z_last; ++z) {
            for (std::size_t i = 0; i < blocks.size(); ++i) {
                if (blocks[i].size() == 1) {
                    visit({blocks[i], {y_edges[i], y_edges[i + 1]}, {z, z + 1}});
                    continue;
                }
                const int rows = std::max(1, cells_of_run / row_length);
                for (int y = y_edges[i]; y < y_edges[i + 1]; y += rows) {
                    visit({blocks[i], {y, std::min(y + rows, y_edges[i + 1])}, {z, z + 1}});
                }
            }
        }
    }
}

double ordered_sum(const Layout& layout, const comm::Communicator& comm, const RowValues& values) {
    std::map<int, RankChannel> from, to;
    std::map<std::pair<std::vector<int>, int>, CutRows> cut;  // by blocks and number of rows
    double sum = 0;
    int holder = -1;  // the rank that has the sum so far; -1 before the first run
    for_row_runs(layout, [&](const RowRun& run) {
        const auto rank_of = [&](int block) { return layout.blocks()[std::size_t(block)].rank; };
        const int rank = rank_of(run.blocks[0]);
        if (holder >= 0 && rank != holder) {
            if (rank == comm.rank()) {
                sum = from.try_emplace(holder, comm, holder, true).first->second.receive();
            } else if (holder == comm.rank()) {
                to.try_emplace(rank, comm, rank, false).first->second.send(sum);
            }
        }
        holder = rank;
        if (run.blocks.size() > 1) {
            if (std::any_of(run.blocks.begin(), run.blocks.end(), [&](int k) { return rank_of(k) == comm.rank(); })) {
                const std::pair<std::vector<int>, int> key(run.blocks, run.y[1] - run.y[0]);
                sum = cut.try_emplace(key, layout, comm, run).first->second.add(run, values, sum);
            }
        } else if (rank == comm.rank()) {
            sum = values.add(run, sum);
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
