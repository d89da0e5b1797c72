// Chooses segments by counting through when each thread block would be done.
#include "moment_segments.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

namespace lbm::cuda {
namespace {

constexpr int shortest = 4;     // layers of a segment
constexpr int most_uneven = 8;  // segments of a column
constexpr int most_waves = 4;   // that are counted through: more take as much longer as they have layers

/// When the last thread block is done, in layers. Each one begins when another is done.
double time_of(const MomentSweeps& sweeps, const std::vector<int>& segments) {
    const auto swept = [&](int layers) { return double(layers + 2 * sweeps.steps); };
    if (sweeps.others_follow) {
        double sum = 0, longest = 0;
        for (const int layers : segments) {
            sum += swept(layers) * double(sweeps.columns) / double(sweeps.at_once);
            longest = std::max(longest, swept(layers));
        }
        return std::max(sum, longest);
    }
    std::vector<double> begun(std::size_t(sweeps.at_once));
    for (std::size_t k = 0; k < begun.size(); ++k) {
        begun[k] = double(sweeps.layers_before) * double(k) / double(begun.size());
    }
    std::priority_queue free(std::greater<>(), std::move(begun));
    const Index uncounted = std::max(sweeps.columns / sweeps.at_once - most_waves, Index(0));
    double before = 0, last = 0;
    for (const int layers : segments) {
        before += double(uncounted) * swept(layers);
        for (Index column = uncounted * sweeps.at_once; column < sweeps.columns; ++column) {
            const double done = free.top() + swept(layers);
            free.pop();
            free.push(done);
            last = std::max(last, done);
        }
    }
    return before + last;
}

/// `count` segments, each `ratio` times as long as the one before or about so; none where these are too short.
std::vector<int> divided(int layers, int count, double ratio) {
    double sum = 0;
    for (int k = 0; k < count; ++k) {
        sum += std::pow(ratio, k);
    }
    std::vector<int> found;
    double end = 0;
    int last = 0;
    for (int k = 0; k < count; ++k) {
        end += std::pow(ratio, k) / sum;
        const int next = k + 1 == count ? layers : int(std::lround(end * layers));
        if (next - last < shortest) {
            return {};
        }
        found.push_back(next - last);
        last = next;
    }
    return found;
}

}  // namespace

MomentSegments moment_segments(const MomentSweeps& sweeps) {
    MomentSegments best{{sweeps.layers}, time_of(sweeps, {sweeps.layers})};
    const auto try_out = [&](int count, double ratio) {
        const std::vector<int> segments = divided(sweeps.layers, count, ratio);
        if (!segments.empty()) {
            const double swept = time_of(sweeps, segments);
            if (swept < best.swept) {
                best = {segments, swept};
            }
        }
    };
    const Index enough = std::max(Index(most_uneven), most_waves * sweeps.at_once / std::max(sweeps.columns, Index(1)));
    for (int count = 2; count <= std::min(enough, Index(sweeps.layers / shortest)); ++count) {
        try_out(count, 1);
        if (count <= most_uneven) {
            try_out(count, 0.6);
            try_out(count, 0.35);
        }
    }
    return best;
}

std::vector<int> cut_at(const std::vector<int>& ends, int first, int end, int least) {
    std::vector<int> found;
    for (const int cut : ends) {
        if (cut - first >= least && end - cut >= least) {
            found.push_back(cut);
            first = cut;
        }
    }
    found.push_back(end);
    return found;
}

}  // namespace lbm::cuda
