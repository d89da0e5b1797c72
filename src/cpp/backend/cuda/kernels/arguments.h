// What the host hands to the kernels, as plain data.
#pragma once

#include "../../../lattice/address.h"
#include "../../../lattice/collide.h"
#include "../../../lattice/multispeed.h"
#include "../../../lattice/stencils/all.h"
#include "../../../lattice/temperature.h"
#include "../../end_sums.h"
#include "../../link_data.h"
#include "../../row_box.h"
#include "update_kinds.h"

namespace lbm::cuda {

constexpr int max_Q = 27;  // of the stencils that UpdateArguments serve

/// Of the update, in the arithmetic type.
template <class Real, class Parameters>
struct UpdateArguments {
    const void* source;
    void* target;  // the same lattice when streaming in place
    Address address;
    backend::RowBox rows;  // those to update
    // Bytes from population 0 of a cell to where population i arrives; shifts along x and wrapped axes are left out.
    Index arrive[max_Q];
    Index depart[max_Q];
    Parameters parameters;
    Real force[3];
    const Real* force_field;  // D rows for each (y, z)
    Index force_pitch;
    backend::EndSums<Real> end_sums;
    HeatParameters<Real> heat;
    const Real* heat_field;                       // a row for each (y, z), of the pitch of the force; null for none
    Index temperature_before, temperature_after;  // elements from population 0 of a cell, in source and target
};

/// Of the update where populations carry the energy.
template <class Real>
struct MultispeedArguments {
    const void* source;
    void* target;
    Address address;
    backend::RowBox rows;
    MultispeedParameters<Real> parameters;
};

constexpr int columns_a_block = 32;  // of halo behind walls, a thread block

/// Of everything between two updates: where the state is and what the last step was.
struct StateArguments {
    void* data;
    Address address;
    Phase phase;
    double force[3];    // the gravity where populations carry the energy
    void* force_field;  // of the arithmetic type; null for a uniform force
    Index force_pitch;
    const unsigned char* solid;    // null without bodies
    const double* solid_velocity;  // null where all bodies rest
    bool heated;
    HeatParameters<double> heat;
    void* heat_field;  // of the arithmetic type; null for a uniform source
};

/// A copy that is not worth a warp.
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
    const TransferEnds* ends;  // of each transfer

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
    void* end_sums;  // of the arithmetic type; null where the last step has kept none

    Index threads() const { return 32 * run_count + single_count + cell_count + wall_temperature_count; }
};

/// Rows [first, last) of a block, row = z ny + y.
struct RowRange {
    Index first, last;
};

}  // namespace lbm::cuda
