// The memory layout of a block on a device: the padding of its rows and the size of its lattices.
#pragma once

#include "../lattice/turbulence/gradient.h"
#include "block_state.h"
#include "end_columns.h"

namespace lbm::backend {

enum class Device { Cpu, Gpu };

Address block_address(const BlockSpec& spec, Device device);

/// The rows of the velocities that a block keeps.
VelocityRows velocity_rows(const BlockSpec& spec, Device device);

/// The cells by whose multiples an interior may be trimmed in x; 0 if it may not. On the CPU they are those of the
/// widest pack. On a GPU only the multispeed model is trimmed, by sectors of memory: its update is bound by arithmetic.
/// The other models' are bound by memory, and rows that two kernels read and write cost them more than an exchange that
/// is not hidden: 388 us a step against 349 for D3Q19 with 256^3 cells, cut across x over two H200.
int trim_unit(const BlockSpec& spec, Device device);

/// The columns that a block on a device gathers for others; none on the CPU, or if they read no strided columns.
EndColumns end_columns(const BlockSpec& spec, Device device);

/// Numbers from one row of a field to the next: of a force, a heat source or an eddy viscosity.
inline Index field_pitch(int nx) { return (nx + 63) / 64 * 64; }

/// How many numbers a cell takes of velocity gradients in each step: an eddy viscosity, and the elements of the strain
/// rate.
int gradient_terms(const BlockSpec& spec);

/// Bytes that a cell reads and writes in a step for so many numbers of velocity gradients, averaged over the `every`
/// steps for which they hold. Once in these the velocity is written and read, and the numbers are written; they are
/// read in each of the steps. On a GPU the update that renews them has them already, and writes them for others alone.
inline int gradient_bytes(Device device, int D, int terms, NumberKind precision, NumberKind storage, int every) {
    const int velocity = 2 * D * int(size_of(storage)), numbers = terms * int(size_of(precision));
    const int moved = device == Device::Cpu ? every + 1 : every == 1 ? 0 : every;
    return terms > 0 ? (velocity + moved * numbers) / every : 0;
}

/// How a block whose two lattices overlap is updated: slab by slab along its last axis.
///
/// Lattice 0 lies `shift` layers behind lattice 1. An update from lattice 0 to lattice 1 takes the slabs in ascending
/// order, one from lattice 1 to lattice 0 in descending order. A slab of T layers writes T layers of memory and reads
/// as many and d more on each side, where d are the steps of an update. Where the shift is w T + d or more, it
/// overwrites nothing that itself, one of the w - 1 slabs before it, or one after it reads: so w slabs in a row may be
/// updated side by side, and a slab waits for all others before it. The block does not follow itself along that axis,
/// as its first layers would be overwritten before its last ones are updated: it has halo layers there, which are
/// copied.
struct Slabs {
    int count;    // of layers that differ by one at most
    int at_once;  // slabs side by side
    int shift;    // layers from the beginning of lattice 1 to that of lattice 0

    /// The rows of a slab of a block of ny x nz rows in D dimensions.
    RowBox rows(int slab, int D, int ny, int nz) const {
        const int n = D == 3 ? nz : ny;
        const int first = int(Index(n) * slab / count), end = int(Index(n) * (slab + 1) / count);
        return D == 3 ? RowBox{0, first, ny, end - first} : RowBox{first, 0, end - first, 1};
    }
};
Slabs slabs_of(const BlockSpec& spec, Device device);

/// From the beginning of lattice 1 to that of lattice 0 in bytes, where they overlap.
std::size_t lattice_shift(const BlockSpec& spec, Device device);

/// Size in bytes of one lattice of a block.
std::size_t lattice_bytes(const BlockSpec& spec, Device device);

/// Size in bytes of all lattices of a block, and of what it takes of velocity gradients.
std::size_t block_bytes(const BlockSpec& spec, Device device);

}  // namespace lbm::backend
