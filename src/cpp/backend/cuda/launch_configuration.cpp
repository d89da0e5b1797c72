// The table of default launch configurations of the update kernels, as measured on an H200, and their limits.
#include "launch_configuration.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace lbm::cuda {

using backend::BlockSpec;
using backend::NumberKind;

namespace {

/// The number of populations Q, among those of the stencils that have been measured, that is nearest to the block's.
int nearest_measured(const BlockSpec& spec) {
    const int Q = backend::with_stencil(spec.stencil, [](auto s) { return decltype(s)::Q; });
    constexpr int measured[] = {D2Q9::Q, D3Q19::Q, D3Q27::Q};
    return *std::min_element(std::begin(measured), std::end(measured),
                             [Q](int a, int b) { return std::abs(a - Q) < std::abs(b - Q); });
}

/// Whether at least 3/4 of the threads of a row's warps have cells, with so many cells per thread.
bool fills_warps(const BlockSpec& spec, int cells_per_thread) {
    const int threads = (spec.size[0] + cells_per_thread - 1) / cells_per_thread;
    return 4 * threads >= 3 * ((threads + 31) / 32 * 32);
}

/// The part of the threads that a multiprocessor has registers for which have cells: rows are divided into thread
/// blocks of equal length, of which as many run at once as fit whole. Of rows of 294 or 588 cells it may be little over
/// a half.
double threads_with_cells(const BlockSpec& spec, const LaunchConfiguration& configuration) {
    const LaunchDimensions launch = update_launch(spec, configuration, 1);
    const int threads = int(launch.block_x * launch.block_y);
    const int registers_for = configuration.threads * configuration.blocks;
    const double of_rows = double(spec.size[0]) / configuration.cells_per_thread / (launch.blocks * launch.block_x);
    const int at_once = registers_for / threads;
    return double(at_once * threads) / registers_for * of_rows;
}

}  // namespace

BlockSize block_size(const BlockSpec& spec) {
    const double cells = double(spec.size[0]) * spec.size[1] * spec.size[2];
    return cells < 1e6 ? BlockSize::Small : cells < 4e6 ? BlockSize::Medium : BlockSize::Large;
}

LaunchConfiguration default_configuration(const BlockSpec& spec, const UpdateKind& kind) {
    const int populations = nearest_measured(spec);
    const bool large_stencil = populations == D3Q27::Q;
    // Even A-A steps move nothing along x, and are fastest with many threads of one cell each, unless some of them
    // delay the others with end sums. Odd A-A steps, and even ones with end sums, are fastest with more cells per
    // thread.
    const bool keeps_ends = kind.end_sums || kind.row_ends != 0;
    const bool aa_even = kind.phase == Phase::AAEven && !keeps_ends;
    const bool aa_other = kind.phase != Phase::TwoLattice && !aa_even;
    // What makes an isothermal kernel keep more numbers than the populations. With a temperature (below) the criterion
    // is another: buoyancy gives these kernels a force in any case, to which a uniform one adds little.
    const bool varies = spec.has_eddy_viscosity || backend::keeps_velocity(spec);
    const bool needs_registers = kind.forcing != Forcing::None || varies;
    // Columns take the moments of whichever cell the thread is at, beside the populations of all of its cells.
    const bool is_full = needs_registers || kind.row_ends != 0;
    // The elements of a strain rate lie beside the populations of all cells of a thread, which then needs all registers
    // that it can have, and for eight cells of D3Q27 in float16 more.
    const bool has_strain = spec.takes_strain;
    const BlockSize size = block_size(spec);
    // The cumulant collision builds all central moments beside the populations. With registers for three thread blocks
    // it spills some of them in float64, and so does that of central moments; in float16 it does with eight cells a
    // thread in the odd step, which moves data along x.
    const bool is_cumulant = spec.collision == backend::collision_kind<Cumulant>;
    const bool has_moments = is_cumulant || spec.collision == backend::collision_kind<CentralMoments>;
    const bool reads_force = kind.forcing == Forcing::Field || kind.forcing == Forcing::ScaledField;
    if (populations == D2Q9::Q) {
        const bool needs_most = has_strain || (backend::is_hybrid(spec) && (reads_force || varies));
        return spec.precision == NumberKind::Float64 ? LaunchConfiguration{2, 256, needs_most ? 1 : 2}
               : spec.storage == NumberKind::Float16 ? LaunchConfiguration{4, 256, 2}
               : aa_other && has_strain              ? LaunchConfiguration{4, 128, 3}
               : aa_other                            ? LaunchConfiguration{4, 256, 2}
               : aa_even                             ? LaunchConfiguration{1, 1024, 1}
                                                     : LaunchConfiguration{1, 256, 4};
    }
    if (backend::is_multispeed(spec)) {
        const bool knows_fourth_order = relaxation_times(backend::parameters_of<MultispeedParameters<double>>(spec)) ==
                                        RelaxationTimes::ThirdAndFourth;
        return {1, 128, spec.precision == NumberKind::Float32 ? 4 : knows_fourth_order ? 2 : 3};
    }
    if (backend::is_hybrid(spec)) {  // D3Q19, in float32 or float64
        const bool two_lattices = kind.phase == Phase::TwoLattice;
        const bool takes_more = keeps_ends || reads_force || varies;
        if (spec.precision == NumberKind::Float64) {
            // With 512 threads a multiprocessor has 128 registers for each: enough for these alone, and for MRT where
            // the kernel knows the pitch of the rows, as in large blocks.
            const bool keeps_fewest =
                spec.collision == backend::collision_kind<BGK> || spec.collision == backend::collision_kind<TRT>;
            const bool keeps_few = keeps_fewest || spec.collision == backend::collision_kind<MRT>;
            if (spec.storage != NumberKind::Float64 || takes_more || has_moments) {
                return {1, 128, 3};
            }
            // In odd steps two cells a thread are as fast as 256 threads of one within 0.7 %, and MRT keeps all numbers
            // in registers on each architecture.
            const bool takes_two = two_lattices || (aa_other && keeps_few);
            if (size == BlockSize::Large && takes_two && spec.size[0] % 2 == 0) {
                return {2, 128, 2};
            }
            if (size == BlockSize::Large && aa_even && keeps_few) {
                return {1, 256, 2};
            }
            return {1, 128, aa_even && keeps_fewest ? 4 : 3};
        }
        // One cell a thread is faster where little is at work, 1.7 times in 64^3 cells, and where with four many
        // threads have no cell: rows of 192 fill 48 threads of 64, and take a third longer.
        const LaunchConfiguration narrow{1, 128, takes_more ? 4 : 6};
        const int threads = spec.size[0] > 192 ? 128 : 64;
        const LaunchConfiguration wide{4, threads, (takes_more || spec.size[0] % 4 != 0 ? 256 : 384) / threads};
        const bool is_short = spec.size[0] <= 192 && (spec.size[0] > 128 || two_lattices);
        return size == BlockSize::Small || (is_short && !takes_more) ? narrow : wide;
    }
    if (spec.precision == NumberKind::Float64) {
        return large_stencil ? LaunchConfiguration{1, 128, is_full || has_moments ? 2 : 3}
                             : LaunchConfiguration{2, 256, 1};
    }
    if (spec.storage == NumberKind::Float16) {
        const int threads = spec.size[0] > 512 ? 128 : 64;  // for a whole row
        if (fills_warps(spec, 8) && !(aa_other && is_cumulant) && !(has_strain && large_stencil)) {
            return {8, threads, (large_stencil || needs_registers ? 256 : 384) / threads};
        }
        const bool needs_most = has_strain || kind.row_ends != 0 || (large_stencil && needs_registers);
        return {4, 128, needs_most ? 2 : large_stencil || aa_even || is_full ? 3 : 4};
    }
    if (large_stencil && kind.row_ends != 0) {
        return {needs_registers ? 2 : 4, 128, 2};
    }
    if (large_stencil && needs_registers) {
        return aa_even ? LaunchConfiguration{1, 256, 2} : LaunchConfiguration{2, 128, has_strain ? 2 : 3};
    }
    if (large_stencil) {
        const LaunchConfiguration widest = aa_even       ? LaunchConfiguration{1, 512, 1}
                                           : aa_other    ? LaunchConfiguration{4, 128, 2}
                                           : is_cumulant ? LaunchConfiguration{2, 128, 3}
                                                         : LaunchConfiguration{2, 256, 2};
        const LaunchConfiguration narrow{1, 128, 4};
        return threads_with_cells(spec, narrow) > 1.2 * threads_with_cells(spec, widest) ? narrow : widest;
    }
    if (size == BlockSize::Small) {  // data are in the cache, whose latency many threads hide
        return aa_other  ? LaunchConfiguration{2, 64,
                                              is_full      ? 6
                                               : keeps_ends ? 8
                                                            : 10}
               : aa_even ? LaunchConfiguration{2, 128, is_full ? 3 : 5}
                         : LaunchConfiguration{2, 128, is_full ? 3 : 4};
    }
    if (size == BlockSize::Medium) {
        return aa_even    ? LaunchConfiguration{1, 128, 5}
               : aa_other ? LaunchConfiguration{4, 64, has_strain ? 4 : 6}
                          : LaunchConfiguration{2, 128, kind.row_ends != 0 && needs_registers ? 3 : 4};
    }
    // One that reads an eddy viscosity of velocity gradients holds a number more, one that renews it many more.
    if (aa_even && !has_strain && !kind.renews_terms) {
        const bool holds_more = kind.forcing != Forcing::None || spec.has_eddy_viscosity;
        return holds_more ? LaunchConfiguration{1, 256, 3} : LaunchConfiguration{1, 512, 2};
    }
    return has_strain                          ? LaunchConfiguration{4, 128, 2}
           : aa_other || is_full || keeps_ends ? LaunchConfiguration{4, 128, 3}
                                               : LaunchConfiguration{4, 256, 1};
}

std::vector<LaunchConfiguration> candidate_configurations(const BlockSpec& spec) {
    const int Q = backend::with_stencil(spec.stencil, [](auto s) { return decltype(s)::Q; });
    const int words = int(backend::size_of(spec.precision)) / 4;
    std::vector<LaunchConfiguration> configurations;
    for (const int cells_per_thread : {1, 2, 4, 8}) {
        if (cells_per_thread * int(backend::size_of(spec.storage)) > 16 ||
            (cells_per_thread > 1 && backend::is_multispeed(spec))) {
            continue;  // wider than a vector load of 16 bytes, or not supported by the kernel
        }
        // An estimate of the threads for which a multiprocessor's registers suffice, if each keeps all its populations
        // in registers.
        const int packed = spec.storage == NumberKind::Float16 ? 2 : 1;
        const int registers = std::min(255, 40 + Q * cells_per_thread * words / packed + Q * words);
        const int suffices = 65536 / registers;
        for (const int threads : {64, 128, 256, 384, 512, 1024}) {
            if (threads == 384 && !backend::keeps_velocity(spec)) {
                continue;  // for three rows of a block, which read each other's velocities
            }
            const int row = (spec.size[0] + cells_per_thread - 1) / cells_per_thread;
            if (threads > 4 * std::max(row, 32) || (threads < 128 && threads < row)) {
                continue;
            }
            const int most = std::max(1, suffices / threads);
            for (const int blocks : {most, most - 1, most + 1}) {
                if (blocks > 0 && blocks * threads <= 1536) {
                    configurations.push_back({cells_per_thread, threads, blocks});
                }
            }
        }
    }
    return configurations;
}

bool is_possible(const BlockSpec& spec, const LaunchConfiguration& configuration) {
    const bool several = configuration.cells_per_thread == 2 || configuration.cells_per_thread == 4 ||
                         configuration.cells_per_thread == 8;
    const bool cells_per_thread = configuration.cells_per_thread == 1 || (several && !backend::is_multispeed(spec));
    return cells_per_thread && configuration.cells_per_thread * int(backend::size_of(spec.storage)) <= 16 &&
           configuration.threads >= 32 && configuration.threads <= 1024 && configuration.threads % 32 == 0 &&
           configuration.blocks >= 1 && configuration.blocks <= 32;
}

RowSpan row_span(const BlockSpec& spec, const LaunchConfiguration& configuration) {
    const int threads = (spec.size[0] + configuration.cells_per_thread - 1) / configuration.cells_per_thread;
    return threads <= 32 ? RowSpan::Warp : threads <= configuration.threads ? RowSpan::ThreadBlock : RowSpan::Several;
}

LaunchDimensions update_launch(const BlockSpec& spec, const LaunchConfiguration& configuration, Index rows) {
    const int threads = (spec.size[0] + configuration.cells_per_thread - 1) / configuration.cells_per_thread;
    const int warps = (threads + 31) / 32;
    const int most = configuration.threads / 32;
    const int pieces = (warps + most - 1) / most;
    const int across = (warps + pieces - 1) / pieces;
    const int together = std::max(1, most / across);
    const Index groups = (rows + together - 1) / together;
    return {unsigned(groups * pieces), unsigned(32 * across), unsigned(together), true};
}

}  // namespace lbm::cuda
