// The arguments of the kernels, as plain data.
#pragma once

#include "../../../lattice/address.h"
#include "../../../lattice/collide.h"
#include "../../../lattice/multispeed.h"
#include "../../../lattice/stencils/all.h"
#include "../../../lattice/temperature.h"
#include "../../../lattice/turbulence/gradient_terms.h"
#include "../../cell_box.h"
#include "../../link_data.h"
#include "../../moment_force.h"
#include "../../row_box.h"
#include "../../row_end_moments.h"
#include "../../statistics_slots.h"
#include "update_kinds.h"

namespace lbm::cuda {

/// The arguments of the `members` blocks of the lattice that one launch serves: a thread block with blockIdx.y = k
/// works on block k. They are passed by value, as constant memory serves all threads at once.
template <int members, class Arguments>
struct Members {
    Arguments of[members];

#ifdef __CUDACC__
    __device__ const Arguments& own() const { return of[members == 1 ? 0 : blockIdx.y]; }
#endif
};

constexpr int max_Q = 27;  // largest Q of the stencils that use UpdateArguments

/// Which row of the factors of scaled values is that of an update. There are two numbers, which updates use in turn:
/// the kernels before an update read one, and set the other to the row of the update that follows. So nobody needs to
/// know which of them is the last one, and recorded updates take no argument for it. With the row goes the factor of
/// the force, which all threads of an update read: it costs them one load, which waits for no other one.
struct FactorClock {
    Index row[2];
    Index rows;  // that there are
    double force[2];
};

/// A force that is a fixed part, in float64, times a factor of the step.
struct ScaledForce {
    double uniform[3];
    const double* field;  // D rows for each (y, z), in place of the uniform part
    FactorClock* clock;
    int turn;               // which numbers of the clock are those of the update
    int series;             // factors of a row
    const double* factors;  // of the force, in the first row; null: the factor stays as it is
};

/// Arguments of the update kernels of the isothermal and hybrid thermal models, in the arithmetic type.
template <class Real, class Parameters>
struct UpdateArguments {
    const void* source;
    void* target;  // the same lattice with the A-A pattern
    Address address;
    backend::RowBox rows;  // rows to update
    UInt32 inverse_ny;     // (2^32 - 1) / rows.ny, with which a kernel need not divide
    unsigned rows_ahead;   // how many rows ahead of its own a thread asks for populations (kernels/prefetch.h); 0: not
    // Bytes from population 0 of a cell to the slots of its incoming and outgoing population i, without the shifts
    // along x and along self-periodic axes.
    Index incoming_offset[max_Q];
    Index outgoing_offset[max_Q];
    Parameters parameters;
    Real compressibility;  // 0 with the incompressible equilibrium (lattice/inertia.h)
    Real force[3];
    const Real* force_field;  // D rows for each (y, z)
    Index force_pitch;
    ScaledForce scaled_force;
    backend::EndSums<Real> end_sums;
    HeatParameters<Real> heat;
    const Real* heat_field;                       // a row for each (y, z), with force_pitch; null for none
    Index temperature_before, temperature_after;  // elements from population 0 of a cell, in source and target
};

/// The parameters of a collision with what an update takes of velocity gradients, the Terms_ (GradientTerms) of its
/// cells. They are in memory; an update that renews them computes them from the velocities that the step before has
/// kept, and stores them for the next steps, unless it keeps the velocity too: then the next step renews them again.
template <class Parameters, class Real, class Terms_, bool keeps, bool renews>
struct WithGradientTerms : Parameters {
    using Terms = Terms_;
    static constexpr bool keeps_velocity = keeps, renews_terms = renews;
    Real* gradient_terms;                // for each (y, z) a row of each term, with force_pitch
    const unsigned char* next_to_walls;  // a bit for each cell whose terms another kernel has renewed; null for none
    Index next_to_walls_pitch;           // bytes from the bits of a row of cells to those of the next
    Real turbulence_factor;
    Index velocity_before, kept_velocity;  // elements from population 0 of a cell, in source and target
    Index velocity_stride;                 // from a component of these to the next
};

/// Arguments of the update kernel of the multispeed thermal model.
template <class Real>
struct MultispeedArguments {
    const void* source;
    void* target;
    Address address;
    backend::RowBox rows;
    MultispeedParameters<Real> parameters;
};

/// Arguments of an update of a part of each row: `count` cells, the first `below` ones from x = 0 on, the others
/// `skipped` cells further. Each row has `row_threads` threads, at least `count`.
template <class Real>
struct MultispeedPartArguments {
    MultispeedArguments<Real> rows;
    int count, below, skipped;
    int row_threads;
};

constexpr int columns_a_block = 32;  // columns of halo cells behind walls, or corners, per thread block
/// The thread blocks of so many columns or corners.
LBM_HD constexpr Index column_blocks(Index count) { return (count + columns_a_block - 1) / columns_a_block; }

/// Arguments of all kernels between two updates: where the state is, and the phase of the last step.
struct StateArguments {
    void* data;
    Address address;
    Phase phase;
    double compressibility;  // as in UpdateArguments
    double force[3];         // the gravity for the multispeed thermal model
    void* force_field;       // of the arithmetic type; null for a uniform force, and one that is scaled
    Index force_pitch;
    double* force_part;            // of a scaled field, in the same rows; null for others
    const double* force_factor;    // of a scaled force, which is its part times this; null for others
    const unsigned char* solid;    // null without bodies
    const double* solid_velocity;  // null if all bodies are at rest
    bool hybrid_thermal;           // hybrid thermal model
    HeatParameters<double> heat;
    void* heat_field;                           // of the arithmetic type; null for a uniform source
    backend::MomentForce<double> moment_force;  // of a state of moments, in place of the others
};

/// A copy of one population, made by one thread instead of a warp.
struct SingleCopy {
    Index target, source;
};

struct SingleTransfer {
    SingleCopy copy;
    int transfer;
};

struct TransferEnds {
    const void* from;
    void* to;
};

struct TransferArguments {
    const backend::TransferRun* runs;
    Index run_count;
    const SingleTransfer* singles;
    Index single_count;
    const TransferEnds* ends;  // source and target of each transfer

    Index threads() const { return 32 * run_count + single_count; }
};

struct LinkArguments {
    const backend::CopyRun* runs;
    Index run_count;
    const SingleCopy* singles;
    Index single_count;
    const backend::WallCell* cells;
    Index cell_count;
    const backend::WallLink* links;
    const backend::LinkOffsets* places;
    const backend::WallTemperature* wall_temperatures;
    Index wall_temperature_count;
    void* end_sums;  // of the arithmetic type; null if the last step has not stored them

    Index threads() const { return 32 * run_count + single_count + cell_count + wall_temperature_count; }
};

/// What scaled values are computed from (scaled_values.h).
struct ScalingArguments {
    const backend::ScaledVector* values;  // null: none changes in time
    double reference_density, inertia;
    const double* factors;  // of each row, `series` numbers
    int series;
    int turn;  // which row of the clock is that of the next update
    FactorClock* clock;
};

/// The lists of a plan whose numbers may be scaled ones.
struct ScaledLists {
    backend::WallTemperature* wall_temperatures;
    backend::ThermalLink* thermal_links;
    backend::VelocityLink* velocity_links;
    backend::WallColumn* wall_columns;
};

/// Arguments of the kernel that sets the scaled numbers of a plan.
struct ScaledNumberArguments {
    ScalingArguments scaling;
    const backend::ScaledNumber* numbers;
    Index count;
    const backend::ScaledTerm* terms;
    ScaledLists lists;
};

/// Arguments of the kernels that apply boundaries.
struct BoundaryArguments {
    StateArguments state;
    LinkArguments links;
    ScalingArguments scaling;
};

/// Arguments of the kernel that serves cut links.
struct CutLinkArguments {
    void* data;
    const void* walls;              // of each link, in the arithmetic type; where no value changes in time
    const backend::CutLink* links;  // where some values do
    const backend::CutPlaces* places;
    Index count;
    ScalingArguments scaling;
};

/// Arguments of the kernel that serves walls between fluid cells.
struct SheetLinkArguments {
    void* data;
    const void* walls;                // of both sides of each, as in CutLinkArguments
    const backend::SheetLink* links;  // likewise
    const backend::SheetPlaces* places;
    Index count;
    ScalingArguments scaling;
};

/// Arguments of the kernel that changes the incoming populations of boundary cells or of cells of sponges.
template <class Cell>
struct CellChangeArguments {
    StateArguments state;
    const Cell* cells;
    Index count;
    const backend::SpongeLayer* layers;  // of sponges
    int row_ends;                        // of boundary cells: see BoundaryCellArguments
    ScalingArguments scaling;            // of boundary cells
};

/// Arguments of the kernel that completes boundary cells.
struct BoundaryCellArguments {
    StateArguments state;
    const backend::BoundaryCell* cells;
    Index count;
    void* next;  // the lattice to which the update writes
    void* columns;
    int row_ends;  // what there are columns of (row_end_columns.h)
    ScalingArguments scaling;
};

/// Arguments of the kernel that fills the halo behind walls of the multispeed thermal model.
template <class Real>
struct WallColumnArguments {
    StateArguments state;
    const backend::WallColumn* columns;
    Index count;
    const backend::WallCorner* corners;
    Index corner_count;
    MultispeedParameters<Real> parameters;
};

/// Arguments of the kernels of temperatures next to bodies: the first computes `values`, the second stores them.
struct NextToBodiesArguments {
    StateArguments state;
    const backend::ThermalCell* cells;
    Index count;
    const backend::ThermalLink* links;
    const backend::ThermalTerm* terms;
    void* values;  // of the arithmetic type
};

/// Arguments of the kernels that compute the eddy viscosity and the strain rate from velocity gradients.
struct EddyViscosityArguments {
    StateArguments state;
    VelocityRows velocity;
    double factor;
    void* terms;  // of the arithmetic type, for each (y, z) a row for each of GradientTerms
    Index pitch;  // from a row to the next
    const backend::VelocityCell* cells;
    Index count;
    const backend::VelocityLink* links;
};

/// Arguments of the kernel that samples statistics of cells.
struct StatisticsArguments {
    StateArguments state;
    double* numbers[backend::statistics_slots];  // of each chosen slot, a number for each cell
    double weight;                               // 1 over the number of samples
};

/// The rows [first, last) of a block, with row = z ny + y.
struct RowRange {
    Index first, last;
};

}  // namespace lbm::cuda
