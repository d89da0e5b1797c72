// Follows lattice lines through a surface of triangles on a GPU.
#include "mesh_lines.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "../../geometry/parallel.h"
#include "upload.h"

namespace lbm::cuda {
namespace {

using geometry::LineCut;
using geometry::LineDirection;
using geometry::LineRange;

constexpr Index warp = 32;
constexpr Index least_threads = Index(1) << 16;  // that keep a GPU busy

/// A launch for so many threads in a row.
LaunchDimensions launch_of(const MeshArguments& a) { return flat(a.triangles * a.threads_each); }

/// Parts of a range with about as many lines each: of the first number, or of the second where there is one of those.
/// A single line cannot be parted.
std::vector<LineRange> parts_of(const LineRange& lines, Index count) {
    const bool by_first = lines.first_end - lines.first_begin > 1;
    const Index begin = by_first ? lines.first_begin : lines.second_begin;
    const Index all = (by_first ? lines.first_end : lines.second_end) - begin;
    count = std::min(count, all);
    std::vector<LineRange> found;
    for (Index k = 0; k < count; ++k) {
        LineRange part = lines;
        (by_first ? part.first_begin : part.second_begin) = begin + all * k / count;
        (by_first ? part.first_end : part.second_end) = begin + all * (k + 1) / count;
        found.push_back(part);
    }
    return found;
}

}  // namespace

MeshLines::MeshLines(const geometry::Surface& surface, int ordinal, int threads, std::size_t bytes)
    : LatticeLines(surface, threads),
      stream_(ordinal),
      kernels_(ordinal, device_info(ordinal).architecture()),
      bytes_(bytes) {}

void MeshLines::begin() {
    const geometry::Mesh& mesh = surface().mesh();
    if (triangles_.bytes() == 0) {
        const geometry::SurfaceView view = surface().view();
        upload(vertices_, stream_, view.vertices, mesh.vertices.size());
        upload(whole_, stream_, view.whole, 3 * mesh.vertices.size());
        upload(triangles_, stream_, view.triangles, 3 * mesh.triangles.size());
    }
}

MeshArguments MeshLines::arguments(const LineDirection& along, const LineRange& lines) const {
    const auto count = Index(surface().mesh().triangles.size());
    // With few triangles, which may be large, more warps share the lines of each, up to a thread for each.
    const Index rows = std::max<Index>(lines.first_end - lines.first_begin, 1);
    const Index warps = std::clamp<Index>(least_threads / (warp * count), 1, (rows + warp - 1) / warp);
    return {
        {vertices_.as<geometry::Vec>(), whole_.as<Index>(), triangles_.as<int>()}, count, warps * warp, along, lines};
}

void MeshLines::fill(const geometry::Part& inner, const geometry::Part& part, std::uint8_t* solid) {
    if (surface().mesh().triangles.empty()) {
        return;
    }
    begin();
    kernels_.expect({"mesh_lines.h", "lbm::cuda::fill_lines"});
    constexpr int along_z[3] = {0, 0, 1};
    const geometry::Direction along(along_z);
    const Index size = inner.size[2], cell_bytes = sizeof(int) + 1;
    const bool counts = surface().closure() == geometry::Closure::Even;
    const Index lines_at_once = std::max<Index>(Index(bytes_) / (cell_bytes * size), 1);
    const Index ny = std::min<Index>(inner.size[1], lines_at_once),
                nx = std::min<Index>(inner.size[0], lines_at_once / ny);
    const DeviceBuffer changes(stream_.ordinal(), std::size_t(nx * ny * size) * sizeof(int));
    const DeviceBuffer found(stream_.ordinal(), std::size_t(nx * ny * size));
    std::vector<std::uint8_t> rows(found.bytes());
    const Index end[2] = {inner.offset[0] + inner.size[0], inner.offset[1] + inner.size[1]};
    for (Index x = inner.offset[0]; x < end[0]; x += nx) {
        for (Index y = inner.offset[1]; y < end[1]; y += ny) {
            const LineRange range{x, std::min(x + nx, end[0]), y, std::min(y + ny, end[1])};
            const Index columns = range.second_end - range.second_begin;
            const Index lines = (range.first_end - range.first_begin) * columns;
            const MeshArguments given = arguments(along, range);
            stream_.clear(changes.address(), std::size_t(lines * size) * sizeof(int));
            kernel("add_crossings")
                .launch(stream_, launch_of(given), given, Index(inner.offset[2]), size, counts, changes.as<int>());
            kernel("fill_lines")
                .launch(stream_, flat(lines * warp), changes.as<const int>(), lines, size, counts,
                        found.as<unsigned char>());
            stream_.copy_to_host(rows.data(), found.address(), std::size_t(lines * size));
            stream_.synchronize();
            geometry::for_pieces(range.first_end - range.first_begin, threads(), [&](long k) {
                for (Index j = 0; j < columns; ++j) {
                    const Index at[2] = {x + k - part.offset[0], y + j - part.offset[1]};
                    std::memcpy(
                        solid + (at[0] * part.size[1] + at[1]) * part.size[2] + inner.offset[2] - part.offset[2],
                        rows.data() + (k * columns + j) * size, std::size_t(size));
                }
            });
        }
    }
}

UInt64 MeshLines::find(const LineDirection& along, const LineRange& lines, const geometry::CellBox& box) {
    const MeshArguments given = arguments(along, lines);
    stream_.clear(count_.address(), count_.bytes());
    kernel("find_cuts")
        .launch(stream_, launch_of(given), given, box, UInt64(capacity_), count_.as<UInt64>(), cuts_.as<LineCut>());
    UInt64 count = 0;
    stream_.copy_to_host(&count, count_.address(), sizeof count);
    stream_.synchronize();
    return count;
}

void MeshLines::hand_over(std::size_t count, const TakeCuts& take) {
    std::vector<LineCut> cuts(count);
    if (count > 0) {
        stream_.copy_to_host(cuts.data(), cuts_.address(), count * sizeof(LineCut));
        stream_.synchronize();
    }
    constexpr std::size_t piece = std::size_t(1) << 16;
    geometry::for_pieces(long((count + piece - 1) / piece), threads(), [&](long k) {
        const std::size_t first = std::size_t(k) * piece;
        take(cuts.data() + first, std::min(piece, count - first));
    });
}

void MeshLines::for_cuts(const LineDirection& along, const LineRange& lines, const geometry::CellBox& box,
                         const TakeCuts& take) {
    if (surface().mesh().triangles.empty()) {
        return;
    }
    begin();
    if (capacity_ == 0) {
        capacity_ = std::max<std::size_t>(bytes_ / sizeof(LineCut), 1);
        cuts_ = DeviceBuffer(stream_.ordinal(), capacity_ * sizeof(LineCut));
        count_ = DeviceBuffer(stream_.ordinal(), sizeof(UInt64));
    }
    std::vector<LineRange> waiting{lines};
    while (!waiting.empty()) {
        const LineRange range = waiting.back();
        waiting.pop_back();
        const UInt64 count = find(along, range, box);
        if (count <= capacity_) {
            hand_over(std::size_t(count), take);
            continue;
        }
        const std::vector<LineRange> parts = parts_of(range, Index(2 * (count / capacity_) + 2));
        if (parts.size() > 1) {
            waiting.insert(waiting.end(), parts.begin(), parts.end());
        } else {  // so many triangles cross a single line
            cuts_ = DeviceBuffer();
            capacity_ = std::size_t(count);
            cuts_ = DeviceBuffer(stream_.ordinal(), capacity_ * sizeof(LineCut));
            waiting.push_back(range);
        }
    }
}

}  // namespace lbm::cuda
