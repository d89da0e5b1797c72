// The arguments of the kernels that follow lattice lines through a surface.
#pragma once

#include "../../../geometry/crossings.h"

namespace lbm::cuda {

struct MeshArguments {
    geometry::SurfaceView surface;
    Index triangles;
    Index threads_each;  // of a triangle: a multiple of a warp's
    geometry::LineDirection along;
    geometry::LineRange lines;
};

}  // namespace lbm::cuda
