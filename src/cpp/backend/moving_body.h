// What there is to know of a body that moves, as plain data that the GPU's compiler can include too.
#pragma once

#include "moving_shape.h"

namespace lbm::backend {

/// What does not change of a body that moves.
struct MovingBody {
    Shape shape;
    double center[3];      // about which it turns, in its own frame
    double ball[4];        // the centre of a ball about it, in its own frame, and the square of its radius
    int size[3];           // cells of a box about it and the cells next to it, wherever it is
    int series;            // the first of the numbers of its step among the factors
    unsigned char* marks;  // which cells of the box and of its rim are in it in the coming step, as MovingCells says

    LBM_HD Index cells() const { return Index(size[0]) * size[1] * size[2]; }
    /// Cells of the rim at either end of an axis: one along those of a domain of D dimensions.
    LBM_HD static int rim(int d, int D) { return d < D ? 1 : 0; }
    LBM_HD int marked(int d, int D) const { return size[d] + 2 * rim(d, D); }
    LBM_HD Index marks_of(int D) const { return Index(marked(0, D)) * marked(1, D) * marked(2, D); }
};

/// One of the bodies that move, and all of them.
struct MovingBodies {
    MovingBody own;
    int number;  // of that
    int count;
    const MovingBody* all;
};

/// Where a block lies in the domain.
struct MovingPlace {
    int offset[3], domain[3];
    bool periodic[3];
};

/// The numbers of a body for the step from t to t + 1: its pose at t + 1, its pose at t, and at t + 1 the velocity of
/// the point about which it turns, the angular velocity, and the first cell of the box. A pose is an orthogonal matrix,
/// row by row, from the frame of the body to that of the domain, and where the point about which it turns is.
struct MovingStep {
    static constexpr int numbers = 33;
    const double* at;

    LBM_HD const double* pose() const { return at; }
    LBM_HD const double* pose_before() const { return at + 12; }
    LBM_HD const double* origin() const { return at + 9; }
    LBM_HD double corner(int d) const { return at[30 + d]; }
    /// Component d of the wall's velocity at a point.
    LBM_HD double velocity(int d, const double (&x)[3]) const {
        const int e = (d + 1) % 3, g = (d + 2) % 3;
        return at[24 + d] + (at[27 + e] * (x[g] - origin()[g]) - at[27 + g] * (x[e] - origin()[e]));
    }
};

}  // namespace lbm::backend
