// The interface of the CPU's kernels for a state of moments, and the working memory of their sweeps.
#pragma once

#include <string>

#include "../link_data.h"
#include "../moment_force.h"
#include "kernels.h"

namespace lbm::cpu {

/// The working memory of a sweep, in numbers of the arithmetic type. A row has room for the cells around the tile that
/// the first of several steps reads, and for whole packs. It is divided into blocks of cells, in each of which the
/// numbers of a cell are `pitch` apart: a constant, so that kernels need no pointer to each of them. The cells next to
/// a block lie beside it too, as populations come in from there.
struct MomentScratch {
    static constexpr Index line = 16;                          // numbers of the widest pack
    static constexpr Index block = 256, pitch = block + line;  // an odd number of cache lines

    int left;       // from the beginning of a row to the first cell of the tile
    Index cells;    // of a row
    Index blocks;   // of a row
    Index ring;     // rows of populations of one stage in a block: Q of each of the rows that are kept
    Index sums;     // rows of sums of one target row
    Index kept;     // rows of populations that come off walls above, of one target row
    Index copies;   // rows of copies of the populations of the rows that are kept (moment_cut_rings.h)
    Index targets;  // target rows of a stage at most

    /// `nx` are the cells of a tile along a row and `rows` those along y; the last axis is that along which layers
    /// follow. Walls that are not half-way to solid cells, `has_cuts`, take more.
    LBM_HD MomentScratch(int D, int Q, int nx, int steps, int rows, bool has_cuts) {
        const auto whole = [](Index n) { return (n + line - 1) / line * line; };
        left = int(whole(steps));
        cells = left + whole(nx + steps) + line;
        blocks = (cells + block - 1) / block;
        ring = (D == 3 ? 3 : 1) * Index(Q) * pitch;
        sums = (D == 3 ? 15 : 8) * pitch;
        kept = (D == 3 ? 9 : 3) * (has_cuts ? 2 : 1) * pitch;
        copies = has_cuts ? ring : 0;
        targets = D == 3 ? rows + 2 * (steps - 1) : 1;
    }
    LBM_HD Index of_block() const { return ring + targets * (sums + kept) + copies; }
    LBM_HD Index of_stage() const { return blocks * of_block(); }
    LBM_HD Index total(int steps) const { return steps * of_stage() + 2 * line; }
    /// What a sweep without walls works with.
    LBM_HD Index used(int steps) const { return steps * (ring + targets * sums) / pitch * cells; }
    /// The place of a cell of a tile in a row.
    LBM_HD Index at(int x) const {
        const Index k = x + left;
        return k / block * of_block() + k % block;
    }
};

/// A cell, of the block or beside it, some of whose incoming populations the formulas of links give.
struct MomentWallCell {
    int x;
    UInt32 links;        // bit i: they give population i
    Index first;         // of its links, one for each of these populations, in their order
    bool needs_moments;  // whether some formula reads the cell's density or velocity
    bool is_cut;         // whether some wall is at a known distance or between fluid cells
    // From this cell on so many along x have the same links, all of walls half-way whose values are the same and do not
    // change in time; 0 for a cell with others.
    int alike;
};

/// Where along a row a cell of a list of them lies.
inline int& x_of(MomentWallCell& cell) { return cell.x; }
inline int x_of(const MomentWallCell& cell) { return cell.x; }
inline int& x_of(int& x) { return x; }
inline int x_of(const int& x) { return x; }

/// The walls, inlets and outlets of a block, on faces and bodies, whose links are served by formulas that read their
/// own cell alone (lattice/boundary/condition.h). Cells are listed by rows, those beside the block included that the
/// first of several steps computes; `first` has one more entry than there are rows.
struct MomentWalls {
    int cells_to_wall[6];    // behind each face of the block, 2 axis + side, before a wall; many where there is none
    int cells_to_mirror[6];  // the same before a face with free slip
    int around;              // rows beside the block on each side, but along an axis that the stencil lacks
    const Index* first;
    const MomentWallCell* cells;
    const backend::WallLink* links;
    const boundary::LinearWeights* weights;  // of each link; null where all walls are half-way to solid cells
    // Solid cells, by rows in the same way, with one more row on each side: the first populations that a sweep reads.
    const Index* first_solid;
    const int* solid;  // x
    // Of links whose values change in time; null where none does.
    const backend::ScaledVector* scaled_values;
    double reference_density, wall_inertia;
};

/// The arguments of a kernel; plain data, because kernels are compiled for several instruction sets.
struct MomentArguments {
    const void* source;
    void* target;
    Address address;           // whose Q is the number of moments
    const double* parameters;  // of the collision
    double compressibility;    // 0 with the incompressible equilibrium (lattice/inertia.h)
    backend::MomentForce<double> force;
    int steps;  // that are advanced
    // The cells to update: a tile whose working memory the caches hold. In three dimensions it has whole rows.
    int first_x, end_x, first_y, end_y, first_z, end_z;
    void* scratch;                       // MomentScratch::total() numbers
    const MomentWalls* walls = nullptr;  // null without any
    // The factors of the first step, and from those of a step to those of the next one; null where values of walls do
    // not change in time.
    const double* factors = nullptr;
    int series = 0;
};

/// Advances the cells of a tile.
using MomentKernel = void (*)(const MomentArguments&);

/// The kernel of a kind; null if the collision does not keep its state as moments.
template <class S, class Isa>
MomentKernel moment_kernel_for(const KernelKind& kind);

/// The kernel for a block. Throws std::invalid_argument for an unknown instruction set, or a collision that has none.
MomentKernel find_moment_kernel(const std::string& isa, const backend::BlockSpec& spec);

}  // namespace lbm::cpu
