// The shapes of the update's launches.
#include "update_shape.h"

#include <algorithm>

namespace lbm::cuda {

using backend::BlockSpec;
using backend::NumberKind;

UpdateShape usual_shape(const BlockSpec& spec, Phase phase) {
    static_cast<void>(phase);
    const bool many = spec.stencil == backend::StencilKind::D3Q27;
    const double cells = double(spec.size[0]) * spec.size[1] * spec.size[2];
    const bool few = cells < 4e6;  // more threads then hide the latency of what the cache holds
    if (spec.stencil == backend::StencilKind::D2Q9) {
        return spec.precision == NumberKind::Float64 ? UpdateShape{2, 256, 2}
               : spec.size[0] <= 4 * 256             ? UpdateShape{4, 256, 2}
                                                     : UpdateShape{4, 1024, 1};
    }
    if (spec.precision == NumberKind::Float64) {
        return many ? UpdateShape{1, 128, 3} : UpdateShape{2, 256, 1};
    }
    if (spec.storage == NumberKind::Float16) {
        return {4, 128, many ? 3 : 4};
    }
    return many ? UpdateShape{2, 256, 2} : few ? UpdateShape{2, 128, 4} : UpdateShape{4, 128, 4};
}

std::vector<UpdateShape> possible_shapes(const BlockSpec& spec) {
    std::vector<UpdateShape> shapes;
    for (const int lanes : {1, 2, 4, 8}) {
        if (lanes * int(backend::size_of(spec.storage)) > 16) {
            continue;  // wider than a load
        }
        for (const int threads : {64, 128, 256, 512, 1024}) {
            // Threads a multiprocessor: from where registers suffice for all numbers to where they do for few.
            for (const int together : {256, 384, 512, 640, 768, 1024, 1536}) {
                if (together % threads == 0 &&
                    threads / 32 <= std::max(2, (spec.size[0] + lanes - 1) / lanes * 4 / 32)) {
                    shapes.push_back({lanes, threads, together / threads});
                }
            }
        }
    }
    return shapes;
}

bool spans_rows(const BlockSpec& spec, const UpdateShape& shape) { return spec.size[0] <= shape.lanes * shape.threads; }

LaunchShape update_launch(const BlockSpec& spec, const UpdateShape& shape) {
    const Index rows = Index(spec.size[1]) * spec.size[2];
    const int threads = (spec.size[0] + shape.lanes - 1) / shape.lanes;
    const int warps = (threads + 31) / 32;
    const int most = shape.threads / 32;
    const int pieces = (warps + most - 1) / most;
    const int across = (warps + pieces - 1) / pieces;
    const int together = std::max(1, most / across);
    return {unsigned((rows + together - 1) / together), unsigned(pieces), unsigned(32 * across), unsigned(together),
            true};
}

}  // namespace lbm::cuda
