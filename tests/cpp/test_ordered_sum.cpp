// Tests of sums in the order of cells over ranks: the bits of one rank, and the number of messages.
#include <atomic>
#include <random>

#include "../../src/cpp/engine/ordered_sum.h"
#include "check.h"
#include "thread_ranks.h"

namespace {

using lbm::engine::Block;
using lbm::engine::Layout;
using lbm::engine::RowRun;
using lbm::engine::RowValues;

/// Counts the exchanges that a rank starts.
class Counting final : public lbm::comm::Communicator {
public:
    Counting(std::shared_ptr<const Communicator> other, std::atomic<int>& count)
        : other_(std::move(other)), count_(count) {}

    int rank() const override { return other_->rank(); }
    int size() const override { return other_->size(); }
    void sum(double* values, int count) const override { other_->sum(values, count); }
    double maximum(double value) const override { return other_->maximum(value); }
    std::vector<std::string> all_gather(const std::string& own) const override { return other_->all_gather(own); }
    void barrier() const override { other_->barrier(); }
    std::unique_ptr<lbm::comm::Exchange> exchange(const std::vector<lbm::comm::Message>& receives,
                                                  const std::vector<lbm::comm::Message>& sends) const override {
        return std::make_unique<Counted>(other_->exchange(receives, sends), count_);
    }
    std::string library_version() const override { return other_->library_version(); }
    bool cuda_aware() const override { return other_->cuda_aware(); }

private:
    class Counted final : public lbm::comm::Exchange {
    public:
        Counted(std::unique_ptr<Exchange> other, std::atomic<int>& count) : other_(std::move(other)), count_(count) {}
        void start_receives() override { other_->start_receives(); }
        void start_sends() override { other_->start_sends(); }
        void finish() override {
            ++count_;
            other_->finish();
        }

    private:
        std::unique_ptr<Exchange> other_;
        std::atomic<int>& count_;
    };

    std::shared_ptr<const Communicator> other_;
    std::atomic<int>& count_;
};

struct Field {
    explicit Field(const int (&size)[3]) : shape{size[0], size[1], size[2]} {
        std::mt19937 random(7);
        std::uniform_real_distribution<double> some(0.5, 1.5);
        for (int k = 0; k < shape[0] * shape[1] * shape[2]; ++k) {
            values.push_back(k % 11 == 3 ? 0 : some(random));
        }
    }
    const double* row(const Block& block, int y, int z) const {
        return &values[(std::size_t(z) * shape[1] + y) * shape[0] + block.offset[0]];
    }

    int shape[3];
    std::vector<double> values;
};

/// The sum of a field by ranks that each have the blocks of theirs, and the number of exchanges of all.
std::pair<double, int> summed(const Field& field, const Layout& layout, int ranks) {
    std::vector<double> totals(std::size_t(ranks), 0);
    std::atomic<int> exchanges{0};
    tests::ThreadRanks::run(ranks, [&](const std::shared_ptr<const lbm::comm::Communicator>& comm) {
        const Counting counting(comm, exchanges);
        const auto own = [&](int number) -> const Block& {
            const Block& block = layout.blocks()[std::size_t(number)];
            CHECK_EQUAL(block.rank, comm->rank());
            return block;
        };
        RowValues values;
        values.add = [&](const RowRun& run, double sum) {
            const Block& block = own(run.blocks.at(0));
            for (int z = run.z[0]; z < run.z[1]; ++z) {
                for (int y = run.y[0]; y < run.y[1]; ++y) {
                    for (int x = 0; x < block.size[0]; ++x) {
                        sum += field.row(block, y, z)[x];
                    }
                }
            }
            return sum;
        };
        values.copy = [&](int number, int y, int z, double* row) {
            const Block& block = own(number);
            std::copy_n(field.row(block, y, z), block.size[0], row);
        };
        totals[std::size_t(comm->rank())] = lbm::engine::ordered_sum(layout, counting, values);
    });
    for (const double total : totals) {
        CHECK_EQUAL(total, totals[0]);
    }
    return {totals[0], exchanges.load()};
}

double in_order(const Field& field) {
    double sum = 0;
    for (const double value : field.values) {
        sum += value;
    }
    return sum;
}

}  // namespace

TEST(ordered_sum_has_the_bits_of_one_rank) {
    const int shape[3] = {12, 9, 8};
    const Field field(shape);
    for (const int ranks : {1, 2, 3, 5}) {
        for (const auto& [nx, ny, nz] : {std::tuple(1, 1, 4), {3, 1, 1}, {1, 3, 2}, {4, 3, 2}, {2, 1, 4}}) {
            std::vector<Block> blocks;
            for (int k = 0; k < nx * ny * nz; ++k) {
                const int at[3] = {k % nx, k / nx % ny, k / nx / ny}, size[3] = {12 / nx, 9 / ny, 8 / nz};
                blocks.push_back({{at[0] * size[0], at[1] * size[1], at[2] * size[2]}, {}, k * 7 % ranks, "cpu"});
                std::copy_n(size, 3, blocks.back().size);
            }
            CHECK_EQUAL(summed(field, Layout(shape, blocks), ranks).first, in_order(field));
        }
    }
}

TEST(ordered_sum_has_the_bits_of_one_rank_where_blocks_are_uneven) {
    const int shape[3] = {7, 6, 4};
    const Field field(shape);
    const Layout layout(shape, {{{0, 0, 0}, {2, 6, 3}, 1, "cpu"},
                                {{2, 0, 0}, {5, 4, 3}, 0, "cpu"},
                                {{2, 4, 0}, {5, 2, 3}, 2, "cpu"},
                                {{0, 0, 3}, {7, 6, 1}, 2, "cpu"}});
    CHECK_EQUAL(summed(field, layout, 3).first, in_order(field));
}

TEST(ordered_sum_sends_cut_rows_by_layers) {
    const int shape[3] = {8, 60, 5};
    const Field field(shape);
    const Layout layout(shape, {{{0, 0, 0}, {3, 60, 5}, 0, "cpu"}, {{3, 0, 0}, {5, 60, 5}, 1, "cpu"}});
    CHECK_EQUAL(summed(field, layout, 2).second, 2 * 5);  // on both ranks
}

TEST(ordered_sum_sends_parts_of_layers_that_are_large) {
    const int shape[3] = {1 << 12, 1 << 8, 1};
    const Field field(shape);
    const Layout layout(
        shape, {{{0, 0, 0}, {1 << 11, 1 << 8, 1}, 0, "cpu"}, {{1 << 11, 0, 0}, {1 << 11, 1 << 8, 1}, 1, "cpu"}});
    const auto [sum, exchanges] = summed(field, layout, 2);
    CHECK_EQUAL(sum, in_order(field));
    CHECK_EQUAL(exchanges, 2 * 4);
}
