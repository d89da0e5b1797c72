// Joins runs to rows, rows to rectangles, and rectangles to boxes.
#include "copy_boxes.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace lbm::cuda {
namespace {

using backend::CopyRun;

constexpr std::size_t most_boxes = 32;  // of a transfer
constexpr Index shortest_row = 128;     // numbers

/// Sorted so that runs that take every k-th number, and fill each other's gaps, follow each other.
bool comes_before(const CopyRun& a, const CopyRun& b) {
    return std::tie(a.target, a.source) < std::tie(b.target, b.source);
}

/// Whether the `stride` runs from `first` on take each a number of every group of so many.
bool fill_their_gaps(const std::vector<CopyRun>& runs, std::size_t first, Index stride) {
    const CopyRun& run = runs[first];
    if (first + std::size_t(stride) > runs.size()) {
        return false;
    }
    for (Index k = 0; k < stride; ++k) {
        const CopyRun& other = runs[first + std::size_t(k)];
        if (other.target != run.target + k || other.source != run.source + k || other.count != run.count ||
            other.target_stride != stride || other.source_stride != stride) {
            return false;
        }
    }
    return true;
}

/// The rows of contiguous numbers that runs have together, as long as can be; none where they leave gaps.
std::vector<CopyBox> rows_of(std::vector<CopyRun> runs) {
    std::sort(runs.begin(), runs.end(), comes_before);
    std::vector<CopyBox> rows;
    for (std::size_t k = 0; k < runs.size();) {
        const CopyRun& run = runs[k];
        const Index stride = run.count == 1 ? 1 : run.target_stride;
        if (stride < 1 || (run.count > 1 && !fill_their_gaps(runs, k, stride))) {
            return {};
        }
        const Index count = stride * run.count;
        CopyBox* last = rows.empty() ? nullptr : &rows.back();
        if (last != nullptr && last->target.first + last->count == run.target &&
            last->source.first + last->count == run.source) {
            last->count += count;
        } else {
            rows.push_back({{run.target, 0, 0}, {run.source, 0, 0}, count, 1, 1});
        }
        k += std::size_t(stride);
    }
    return rows;
}

/// Joins rows of as many numbers that follow each other at equal distances.
std::vector<CopyBox> rectangles_of(const std::vector<CopyBox>& rows) {
    std::vector<CopyBox> found;
    for (const CopyBox& row : rows) {
        CopyBox* last = found.empty() ? nullptr : &found.back();
        if (last != nullptr && last->count == row.count) {
            const Index target = row.target.first - last->target.first, source = row.source.first - last->source.first;
            if (last->rows == 1 ? source >= row.count
                                : target == last->rows * last->target.row && source == last->rows * last->source.row) {
                last->target.row = target / last->rows;
                last->source.row = source / last->rows;
                ++last->rows;
                continue;
            }
        }
        found.push_back(row);
    }
    return found;
}

/// `rectangle` as the box of `layers` layers whose second one is `next`; none if there is no such box. The copy engine
/// counts the distance of layers in rows.
std::optional<CopyBox> box_of(const CopyBox& rectangle, const CopyBox& next, Index layers) {
    CopyBox box = rectangle;
    box.layers = layers;
    const auto join = [&](CopyBox::Side& side, const CopyBox::Side& other) {
        if (box.rows == 1) {
            side.row = box.count;
        }
        side.layer = other.first - side.first;
        return side.layer >= box.rows * side.row && side.layer % side.row == 0;
    };
    const bool is_alike = box.count == next.count && box.rows == next.rows &&
                          (box.rows == 1 || (box.target.row == next.target.row && box.source.row == next.source.row));
    return is_alike && join(box.target, next.target) && join(box.source, next.source) ? std::optional(box)
                                                                                      : std::nullopt;
}

/// Joins rectangles to as few boxes as layer by layer have rectangles at the same places.
std::vector<CopyBox> boxes_of(const std::vector<CopyBox>& rectangles) {
    const std::size_t count = rectangles.size();
    for (std::size_t a_layer = 1; a_layer <= std::min(most_boxes, count / 2); ++a_layer) {
        std::vector<CopyBox> boxes;
        for (std::size_t k = 0; k < a_layer && count % a_layer == 0; ++k) {
            const std::optional<CopyBox> box = box_of(rectangles[k], rectangles[k + a_layer], Index(count / a_layer));
            if (!box.has_value()) {
                break;
            }
            const auto follows = [&](std::size_t layer) {
                CopyBox there = rectangles[k + layer * a_layer];
                there.target.first -= Index(layer) * box->target.layer;
                there.source.first -= Index(layer) * box->source.layer;
                return there == rectangles[k];
            };
            std::size_t layer = 1;
            while (layer < count / a_layer && follows(layer)) {
                ++layer;
            }
            if (layer < count / a_layer) {
                break;
            }
            boxes.push_back(*box);
        }
        if (boxes.size() == a_layer) {
            return boxes;
        }
    }
    return rectangles;
}

}  // namespace

std::optional<std::vector<CopyBox>> copy_boxes(const std::vector<CopyRun>& runs) {
    const std::vector<CopyBox> rows = rows_of(runs);
    if (rows.empty() && !runs.empty()) {
        return {};
    }
    std::vector<CopyBox> boxes = boxes_of(rectangles_of(rows));
    if (boxes.size() > most_boxes ||
        std::any_of(boxes.begin(), boxes.end(), [](const CopyBox& box) { return box.count < shortest_row; })) {
        return {};
    }
    return boxes;
}

}  // namespace lbm::cuda
