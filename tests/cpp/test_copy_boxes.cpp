// Tests the boxes of memory that copy runs make up: they copy the same numbers, and are few.
#include <algorithm>
#include <map>
#include <vector>

#include "../../src/cpp/backend/cuda/copy_boxes.h"
#include "check.h"

namespace {

using lbm::Index;
using lbm::backend::CopyRun;
using lbm::cuda::copy_boxes;
using lbm::cuda::CopyBox;

/// A lattice of pairs of numbers, with padding behind each row and halo rows behind each layer.
struct Lattice {
    Index pairs, ny, row, layer;

    Index at(Index y, Index z, Index number) const {
        return z * layer + y * row * pairs + number / 2 * row + number % 2;
    }
};

/// The runs that copy `count` cells of `ny` rows of `nz` layers, each number by itself.
std::vector<CopyRun> runs_of(const Lattice& to, const Lattice& from, int count, Index ny, Index nz) {
    std::vector<CopyRun> found;
    for (Index number = 0; number < 2 * to.pairs; ++number) {
        for (Index z = 0; z < nz; ++z) {
            for (Index y = 0; y < ny; ++y) {
                found.push_back({to.at(y, z, number), 7 + from.at(y, z, number), 2, 2, count});
            }
        }
    }
    return found;
}

/// From where each number comes.
std::map<Index, Index> sources(const std::vector<CopyRun>& runs) {
    std::map<Index, Index> found;
    for (const CopyRun& run : runs) {
        for (int k = 0; k < run.count; ++k) {
            found[run.target + k * run.target_stride] = run.source + k * run.source_stride;
        }
    }
    return found;
}
std::map<Index, Index> sources(const std::vector<CopyBox>& boxes) {
    std::map<Index, Index> found;
    for (const CopyBox& box : boxes) {
        for (Index z = 0; z < box.layers; ++z) {
            for (Index y = 0; y < box.rows; ++y) {
                for (Index x = 0; x < box.count; ++x) {
                    found[box.target.first + z * box.target.layer + y * box.target.row + x] =
                        box.source.first + z * box.source.layer + y * box.source.row + x;
                }
            }
        }
    }
    return found;
}

constexpr Lattice wide{5, 30, 2 * 96, 34 * 5 * 2 * 96}, dense{5, 30, 2 * 80, 30 * 5 * 2 * 80};

}  // namespace

TEST(copy_boxes_of_layers_are_one_for_all_their_rows) {
    const std::vector<CopyRun> runs = runs_of(wide, wide, 80, 30, 2);
    const auto boxes = copy_boxes(runs);
    CHECK(boxes.has_value());
    CHECK(boxes->size() == 1);
    CHECK(boxes->front().count == 160 && boxes->front().rows == 150 && boxes->front().layers == 2);
    CHECK(sources(*boxes) == sources(runs));
}

TEST(copy_boxes_of_rows_without_padding_are_one_row_a_layer) {
    const std::vector<CopyRun> runs = runs_of(dense, dense, 80, 30, 2);
    const auto boxes = copy_boxes(runs);
    CHECK(boxes.has_value());
    CHECK(boxes->size() == 1 && boxes->front().rows == 1);
    CHECK(sources(*boxes) == sources(runs));
}

TEST(copy_boxes_join_a_few_rows_of_each_layer) {
    const std::vector<CopyRun> runs = runs_of(wide, dense, 80, 2, 12);
    const auto boxes = copy_boxes(runs);
    CHECK(boxes.has_value());
    CHECK(boxes->size() == 1);
    CHECK(boxes->front().rows == 10 && boxes->front().layers == 12);
    CHECK(sources(*boxes) == sources(runs));
}

TEST(copy_boxes_are_the_same_in_any_order_of_runs) {
    std::vector<CopyRun> runs = runs_of(wide, dense, 80, 3, 4);
    const auto boxes = copy_boxes(runs);
    std::reverse(runs.begin(), runs.end());
    CHECK(boxes.has_value() && boxes == copy_boxes(runs));
}

TEST(copy_boxes_are_none_of_short_rows_single_numbers_or_gaps) {
    CHECK(!copy_boxes(runs_of(wide, wide, 63, 30, 2)).has_value());
    CHECK(copy_boxes(runs_of(wide, wide, 64, 30, 2)).has_value());
    CHECK(!copy_boxes({{0, 0, 1, 1, 200}, {1000, 400, 0, 0, 1}}).has_value());
    std::vector<CopyRun> with_gaps = runs_of(wide, wide, 80, 30, 2);
    with_gaps.pop_back();
    CHECK(!copy_boxes(with_gaps).has_value());
    CHECK(!copy_boxes({{0, 0, 5, 5, 200}}).has_value());
    CHECK(copy_boxes({}).has_value() && copy_boxes({})->empty());
}

TEST(copy_boxes_join_both_faces_of_a_neighbor) {
    std::vector<CopyRun> runs;
    for (Index z = 0; z < 40; ++z) {
        for (Index number = 0; number < 10; ++number) {
            for (const Index y : {0, 1, 28, 29}) {  // what is low there is high here
                runs.push_back({wide.at(y, z, number), dense.at((y + 15) % 30, z, number), 2, 2, 80});
            }
        }
    }
    const auto boxes = copy_boxes(runs);
    CHECK(boxes.has_value());
    CHECK(boxes->size() == 2 && boxes->front().layers == 40);
    CHECK(sources(*boxes) == sources(runs));
}

TEST(copy_boxes_of_layers_between_which_there_is_half_a_row_are_one_each) {
    Lattice odd = wide;
    odd.layer += 1;
    const std::vector<CopyRun> runs = runs_of(odd, wide, 80, 30, 2);
    const auto boxes = copy_boxes(runs);
    CHECK(boxes.has_value());
    CHECK(boxes->size() == 2);
    CHECK(sources(*boxes) == sources(runs));
    CHECK(copy_boxes(runs_of(odd, wide, 80, 30, 32)).has_value());
    CHECK(!copy_boxes(runs_of(odd, wide, 80, 30, 33)).has_value());
}
