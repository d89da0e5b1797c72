// Tests the segments in which a GPU sweeps columns of moments: they cover all layers, and no even division is done
// sooner.
#include <algorithm>
#include <numeric>
#include <vector>

#include "../../src/cpp/backend/cuda/moment_segments.h"
#include "check.h"

namespace {

using lbm::Index;
using lbm::cuda::moment_segments;
using lbm::cuda::MomentSweeps;

/// When `count` segments of as many layers each are done, where all thread blocks begin together.
double time_of_even(const MomentSweeps& sweeps, int count) {
    const int own = (sweeps.layers + count - 1) / count;
    const Index units = sweeps.columns * ((sweeps.layers + own - 1) / own);
    const Index waves = (units + sweeps.at_once - 1) / sweeps.at_once;
    return double(waves) * (own + 2 * sweeps.steps);
}

std::vector<MomentSweeps> many_sweeps() {
    std::vector<MomentSweeps> found;
    for (const Index columns : {1, 6, 24, 54, 96, 140, 376, 1504, 6000}) {
        for (const int layers : {1, 3, 8, 64, 301, 512}) {
            for (const int before : {0, 40}) {
                found.push_back({columns, layers, 2, 132, before, false});
                found.push_back({columns, layers, 6, 1056, before, false});
            }
        }
    }
    return found;
}

}  // namespace

TEST(moment_segments_cover_all_layers) {
    for (MomentSweeps sweeps : many_sweeps()) {
        for (const bool others_follow : {false, true}) {
            sweeps.others_follow = others_follow;
            const std::vector<int> layers = moment_segments(sweeps).layers;
            CHECK_EQUAL(std::accumulate(layers.begin(), layers.end(), 0), sweeps.layers);
            const int least = *std::min_element(layers.begin(), layers.end());
            CHECK(least >= std::min(sweeps.layers, 4));
        }
    }
}

TEST(moment_segments_are_done_no_later_than_even_ones) {
    for (const MomentSweeps& sweeps : many_sweeps()) {
        if (sweeps.layers_before > 0) {
            continue;
        }
        const double swept = moment_segments(sweeps).swept;
        CHECK(swept >= double(sweeps.columns) * sweeps.layers / double(sweeps.at_once));
        for (int count = 1; count <= std::max(1, sweeps.layers / 4); ++count) {
            CHECK(swept <= time_of_even(sweeps, count) + 1);  // a layer more where they cannot be quite even
        }
    }
}

TEST(moment_segments_get_shorter_where_many_columns_wait) {
    const std::vector<int> layers = moment_segments({376, 512, 2, 132}).layers;
    CHECK(layers.size() > 1);
    CHECK(std::is_sorted(layers.rbegin(), layers.rend()));
    CHECK(layers.front() > 4 * layers.back());
}

TEST(moment_segments_are_long_where_others_follow) {
    CHECK_EQUAL(int(moment_segments({400, 100, 2, 132, 0, true}).layers.size()), 1);
}

TEST(moment_segments_cut_runs_into_parts_that_are_long_enough) {
    const std::vector<int> ends{100, 150, 160, 163};
    for (int first = 0; first < 163; ++first) {
        for (int end = first + 1; end <= 163; ++end) {
            int begin = first;
            for (const int cut : lbm::cuda::cut_at(ends, first, end, 8)) {
                CHECK(cut == end || std::find(ends.begin(), ends.end(), cut) != ends.end());
                CHECK(cut - begin >= std::min(8, end - first));
                begin = cut;
            }
            CHECK_EQUAL(begin, end);
        }
    }
}
