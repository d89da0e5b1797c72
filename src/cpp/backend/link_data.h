// The links that a backend must serve between two updates, as plain data that a GPU's compiler reads too.
#pragma once

#include "../lattice/multispeed_wall.h"
#include "../lattice/portability.h"

namespace lbm::backend {

/// Equally spaced copies of populations: halo exchange, bounce-back, free slip.
struct CopyRun {
    Index target, source;
    Index target_stride, source_stride;
    int count;
};

/// A run of one of several transfers.
struct TransferRun {
    CopyRun run;
    int transfer;
};

/// One link whose incoming population is that of a formula (lattice/boundary/condition.h).
struct WallLink {
    double value;
    double distance;
    unsigned char i;          // the incoming velocity
    unsigned char condition;  // its place in boundary::Conditions
    bool meets_fluid;         // what streams in towards the wall comes from the fluid, not off another wall
};

/// Where the population of a wall link departed from, towards the wall or inside before an outflow, and where it
/// arrives.
struct LinkOffsets {
    Index outgoing, incoming;
};

/// A cell with such links: the range [first, first + count) of the plan's wall links.
struct WallCell {
    int x, y, z;
    int first;
    unsigned char count;
    bool needs_moments;  // some formula reads the cell's density or velocity
};

/// A cell before a face whose condition makes all populations at once that come in through the face. Places of its
/// numbers are counted in numbers from the beginning of a slot of them.
struct BoundaryCell {
    int x, y, z;
    unsigned char condition;   // its place in boundary::Conditions
    unsigned char face;        // 2 axis, and 1 more at the upper end
    unsigned char inwards;     // fluid cells that follow inwards, 2 at most
    unsigned char stored;      // how many numbers it keeps
    unsigned incoming;         // a bit for each velocity that comes in through the face
    unsigned missing;          // and for those too that such a formula of another face makes
    double value[3];           // velocity, or a number in the first place
    double reference_density;  // of the fluid at rest
    Index numbers;             // the place of its first
    Index beside[3][2];  // that of its neighbours, down and up each axis along the face; its own where there is none
    Index first;         // its first one among those of all cells of the plan
};

/// A link between a fluid cell and a body: what the fluid cell receives along velocity i comes off the body.
struct BodyLink {
    int x, y, z;
    int i;
    int solid[3];          // the body's cell
    int off_solid;         // the velocity off that cell: i, mirrored where a free-slip face lies between
    double wall_momentum;  // 2 w_i c . u_w rho_0 / cs2, c the velocity off the solid cell
};

/// A temperature beyond a wall: `sign` times that at `source` plus `value`. Places of temperatures are those of slot 0.
struct WallTemperature {
    Index target, source;
    double value;
    int sign;
};

/// What a fluid cell beside a body has for a temperature where velocity i leads: `sign` times that at `source` plus
/// `value`.
struct ThermalLink {
    Index source;
    double value;
    signed char sign;
    unsigned char i;
};

/// A fluid cell beside a body, with the range [first, first + count) of the plan's heated links, by rising i.
struct ThermalCell {
    int x, y, z;
    int first;
    unsigned char count;
};

/// Heat that enters the fluid in a step: two temperatures with coefficients, plus `value`.
struct HeatSample {
    Index source[2];
    double coefficient[2];
    double value;
};

/// A column of halo cells behind a wall; (x, y) is the fluid cell before it, which may lie in the halo.
struct WallColumn {
    int x, y;
    MultispeedWall wall;
};

struct ForceAndTorque {
    double force[3];
    double torque[3];
};

}  // namespace lbm::backend
