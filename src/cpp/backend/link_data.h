// The entries of the boundary-and-halo plan, as plain data that the GPU's compiler can include too.
#pragma once

#include "../lattice/address.h"
#include "../lattice/boundary/linear_wall.h"
#include "../lattice/multispeed_wall.h"
#include "../lattice/portability.h"

namespace lbm::backend {

/// A run of equally spaced copies of populations, for halos, bounce-back at rest, free slip and periodic faces.
struct CopyRun {
    Index target, source;
    Index target_stride, source_stride;
    int count;
};

/// A copy run of one of several transfers.
struct TransferRun {
    CopyRun run;
    int transfer;
};

/// A link whose incoming population a formula computes (lattice/boundary/condition.h).
struct WallLink {
    double value;
    unsigned char i;             // the incoming velocity
    unsigned char condition;     // index in boundary::Conditions
    unsigned char off_wall = 0;  // velocity with which the population leaves the wall; of links with scaled values
    int scaled = -1;  // index among the plan's scaled values of that which takes the place of `value`; -1: none does
};

/// Offsets of the outgoing population of a wall link (towards the wall, or of the cell to which the condition redirects
/// the link) and of its incoming population.
struct LinkOffsets {
    Index outgoing, incoming;
};

/// A link whose incoming population comes off a wall of a body at a known distance (lattice/boundary/linear_wall.h).
struct CutLink {
    boundary::LinearWall<double> wall;
    double momentum_weight;  // of the wall momentum term, in the value of the wall
    int scaled;              // as of a wall link: of the wall momentum term
    unsigned char off_wall;  // as of a wall link
};

/// Offsets of the populations of a cut link. No cut link reads a place that another one writes: those read are
/// post-collision populations of its cell, and what streams in from a fluid cell.
struct CutPlaces {
    Index outgoing, returning, streamed, incoming;
};

/// A solid cell, of a block or beside it.
struct SolidCell {
    int x, y, z;
};

/// A wall between two fluid cells of a block. The outgoing population of each cell lies where the other one's incoming
/// population has to be, so that both sides are served together.
struct SheetLink {
    CutLink side[2];
};

/// Offsets of the populations of both sides. The incoming place of a side is the outgoing one of the other. Where a
/// side is half-way, its other places are that too.
struct SheetPlaces {
    Index incoming[2], returning[2], streamed[2];
};

/// A cell with wall links: the range [first, first + count) of the plan's wall links.
struct WallCell {
    int x, y, z;
    int first;
    unsigned char count;
    bool needs_moments;   // some formula reads the cell's density or velocity
    bool is_cut = false;  // of a state of moments: some link is in LinkPlan::link_weights, or between fluid cells
};

/// A cell at a face whose condition computes all populations that enter through the face at once. Offsets of its
/// numbers count numbers from the beginning of a slot.
struct BoundaryCell {
    int x, y, z;
    unsigned char condition;  // index in boundary::Conditions
    unsigned char face;       // 2 axis, plus 1 at the upper end
    unsigned char inwards;    // number of fluid cells that follow inwards, 2 at most
    unsigned char stored;     // how many numbers it keeps
    unsigned char neighbors;  // bit 2 axis + side: whether it has a neighbour along the face there
    bool replaces;            // whether its condition replaces all populations of the cell in the end
    /// Whether the face is across x, all populations through it are the condition's, and all others stream in from
    /// fluid cells of the block. Such cells come last in the plan, as those that take longer should begin first.
    bool is_plain;
    bool is_in_sponge;
    int scaled;                    // as of a wall link, in place of `value`
    unsigned incoming;             // bit mask of the velocities that enter through the face
    unsigned missing;              // the same, with those that a boundary-cell formula of another face computes
    double value[3];               // velocity, or a number in the first place
    double reference_density;      // of the fluid at rest
    Index numbers;                 // offset of its first number
    Index neighbor_numbers[3][2];  // of its neighbours down and up each axis along the face; its own if there is none
    Index first;                   // index of its first number among those of all cells of the plan
};

/// A velocity, or a number in the first place, that changes in time: component d is part[d] times the factor
/// `series + d stride` of a step. All components have one factor, or each its own, which then is the component itself
/// and the part 1.
struct ScaledVector {
    double part[3];
    int components;
    int series, stride;
};

/// A term of a number that changes in time: a coefficient times the difference of `part` times a factor and `offset`.
struct ScaledTerm {
    double coefficient, part, offset;
    int series;  // index of the factor among those of a step; -1: none, and `part` is the whole difference
};

/// A number of the plan that depends on walls whose temperature or velocity changes in time, and is none of a wall link
/// or a boundary cell: (start + sum of terms) / divisor - less.
struct ScaledNumber {
    enum class Of { WallTemperature, ThermalLink, VelocityLink, ColumnTemperature, ColumnGradient, ColumnCurvature };
    Of of;
    int index;         // in the plan's list of these
    int component;     // of a velocity
    int first, count;  // the range of the plan's terms
    double start, divisor, less;
};

/// A cell of a sponge, with the index of what the sponge does there in the plan's list.
struct SpongeCell {
    int x, y, z;
    int layer;
};

/// What sponges do in the cells of a layer (lattice/sponge.h). Few cells differ in it: those of a layer along a face,
/// or along an edge where sponges meet, are alike.
struct SpongeLayer {
    double damping;
    double pull, deviation, velocity[3];
};

/// A link between a fluid cell and a body: population i of the fluid cell comes off the body.
struct BodyLink {
    int x, y, z;
    int i;
    int solid[3];          // the solid cell; of a wall between fluid cells the other one
    int off_solid;         // velocity with which the population leaves it: i, mirrored if a free-slip face lies between
    double wall_momentum;  // 2 w_i c . u_w rho_0 / cs2, with c the velocity `off_solid`
    double velocity[3];    // u_w, of a wall whose distance is known
    double distance;       // from the cell's centre to the wall, as a fraction of the link
    bool is_cut;           // whether the wall is one of a body whose distances are known
    bool is_sheet = false;     // whether it is one between fluid cells
    unsigned char scheme = 0;  // of a wall that is one of both: index in boundary::CutWalls
    // Of a state of moments: the cell, relative to that of the link, and the velocity from which the population streams
    // that comes in against population i.
    signed char streamed_at[3] = {0, 0, 0};
    unsigned char streamed_i = 0;

    /// That cell, which along axes along which the block is its own neighbour lies in the block.
    LBM_HD void streamed_cell(const Address& address, int (&at)[3]) const {
        const int own[3] = {x, y, z}, n[3] = {address.nx, address.ny, address.nz};
        for (int a = 0; a < 3; ++a) {
            const int next = own[a] + streamed_at[a];
            at[a] = address.self_periodic[a] ? Address::wrapped(next, n[a]) : next;
        }
    }
};

/// The temperature of a halo cell behind a wall: `sign` times that at `source` plus `value`. Offsets of temperatures
/// are those of slot 0.
struct WallTemperature {
    Index target, source;
    double value;
    int sign;
};

/// A term of a linear combination of temperatures.
struct ThermalTerm {
    Index source;
    double weight;
};

/// The temperature that a fluid cell next to a body uses for its solid neighbour at x + c_i: the weighted sum of the
/// range [first, first + count) of the plan's thermal terms, plus `value`. Terms after the first are of differences
/// from the first one's temperature, so that a uniform temperature stays exactly uniform.
struct ThermalLink {
    double value;
    int first;
    unsigned char count;
    unsigned char i;
};

/// A fluid cell next to a body, with the range [first, first + count) of the plan's thermal links, in the order of i.
struct ThermalCell {
    int x, y, z;
    int first;
    unsigned char count;
};

/// The velocity that a fluid cell finds behind a wall, next to it along an axis, for its gradient: component d is
/// sign[d] times that of the cell plus value[d], or linear through the cell and what it finds on its other side.
struct VelocityLink {
    double value[3];
    signed char sign[3];
    unsigned char direction;  // 2 axis, plus 1 towards the upper end
    bool is_extrapolated;
};

/// A fluid cell that has walls next to it, with the range [first, first + count) of the plan's velocity links, in the
/// order of their directions.
struct VelocityCell {
    int x, y, z;
    int first;
    unsigned char count;
};

/// A term of the heat that enters the fluid in a step: a linear combination of two temperatures, plus `value`.
struct HeatSample {
    Index source[2];
    double coefficient[2];
    double value;
};

/// A column of halo cells behind a wall of the multispeed thermal model. (x, y) is the cell in front of the wall, which
/// may lie in the halo along the wall.
struct WallColumn {
    int x, y;
    MultispeedWall wall;
};

/// A corner of two walls of that model. (x, y) is the fluid cell in it, which may lie in the halo.
struct WallCorner {
    int x, y;
    MultispeedCorner corner;
    Index columns[2];  // of the plan: that in the corner of the wall across x, and that of the other
};

/// Heat that enters the fluid through the cell of a wall before a column, a step and a unit of area.
struct ColumnHeat {
    double exchanged;  // the energy that the next step takes in through the column
    double conducted;  // Fourier's law for the temperatures of now
};

struct ForceAndTorque {
    double force[3];
    double torque[3];

    /// Adds the force on a body by one link, and its torque.
    ///
    /// Args, by components: `c` of the population that comes off the wall, the sum and the difference of those that hit
    /// it and come off, the velocity of the wall, the distance from the centre of the torque.
    LBM_HD void add(const double (&c)[3], double exchanged, double lost, const double (&velocity)[3],
                    const double (&arm)[3]) {
        double own[3];
        for (int d = 0; d < 3; ++d) {
            own[d] = -c[d] * exchanged - velocity[d] * lost;
            force[d] += own[d];
        }
        for (int d = 0; d < 3; ++d) {
            const int e = (d + 1) % 3, g = (d + 2) % 3;
            torque[d] += arm[e] * own[g] - arm[g] * own[e];
        }
    }

    LBM_HD void join(const ForceAndTorque& other) {
        for (int d = 0; d < 3; ++d) {
            force[d] += other.force[d];
            torque[d] += other.torque[d];
        }
    }
};

}  // namespace lbm::backend
