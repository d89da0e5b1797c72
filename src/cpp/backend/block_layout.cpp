// Computes the memory layout of a block, with the padding of its rows.
#include "block_layout.h"

#include <algorithm>

#include "../lattice/stencil.h"
#include "boundary_places.h"

namespace lbm::backend {
namespace {

constexpr Index line_bytes = 128;  // x = 0 of every row is aligned to this

/// The length of a padded row, a multiple of the memory line. On the CPU a pitch of a multiple of 1 KiB would map the
/// populations of a cell to the same few sets of the first-level cache, so such rows get one more line.
Index row_pitch(int nx, std::size_t element, Device device) {
    const Index line = line_bytes / Index(element);
    const Index pitch = (nx + line - 1) / line * line;
    return device == Device::Cpu && pitch * Index(element) % 1024 == 0 ? pitch + line : pitch;
}

Index elements_before_columns(const BlockSpec& spec, const Address& a) {
    return a.numbers_stride == 0 ? a.x_face_end() : a.numbers + spec.state->phases * a.numbers_stride;
}

/// Rows of velocities that begin behind all others of a (y, z), with a memory line before and after each. On a GPU the
/// update reads those of its cells' neighbours; it writes new ones in the same step where each step renews what is
/// taken of their gradients.
VelocityRows rows_behind(Index others, const BlockSpec& spec, Device device, int D, Index pitch, Index line) {
    const bool has_new_rows = spec.is_part || (device == Device::Gpu && spec.refresh_every == 1);
    const Index stride = pitch + line;
    return {others + line, stride, has_new_rows ? D * stride : 0};
}

}  // namespace

Address block_address(const BlockSpec& spec, Device device) {
    return with_stencil(spec.stencil, [&](auto s) {
        using S = decltype(s);
        const std::size_t element = size_of(spec.storage);
        const Index line = line_bytes / Index(element);
        Address a{};
        a.nx = spec.size[0];
        a.ny = spec.size[1];
        a.nz = spec.size[2];
        const int depth = halo_depth(spec);
        a.halo_y = depth;
        a.halo_z = S::D == 3 ? depth : 0;
        a.halo_x = depth > 1 ? depth : 0;
        a.Q = numbers_of_cell(spec);
        a.through_x_face = depth > 1 ? 0 : Stencil<S>::through_x_face;
        a.phases = spec.state->phases;
        a.lead = line;
        a.pitch = row_pitch(a.nx + 2 * a.halo_x, element, device);
        a.population_stride = a.pitch;
        a.row_stride = a.Q * a.pitch;
        if (is_hybrid(spec)) {
            a.temperature = a.row_stride + line;
            a.temperature_stride = a.pitch + line;
            a.row_stride = a.temperature + spec.state->phases * a.temperature_stride;
        }
        if (keeps_velocity(spec)) {
            const VelocityRows rows = rows_behind(a.row_stride, spec, device, S::D, a.pitch, line);
            a.row_stride = rows.first + S::D * rows.stride + (spec.state->phases - 1) * rows.slot_stride;
        }
        a.x_face_buffers = a.lead + Index(a.ny + 2 * a.halo_y) * (a.nz + 2 * a.halo_z) * a.row_stride + a.lead;
        a.numbers = (a.x_face_end() + line - 1) / line * line;
        const Index numbers = BoundaryPlaces(a, spec.stored).total() * Index(size_of(spec.precision) / element);
        a.numbers_stride = (numbers + line - 1) / line * line;
        for (int d = 0; d < 3; ++d) {
            // The CPU copies periodic faces: self-periodic rows would put branches between its packs. Sweeps over
            // moments read whole rows in one go, and have none of these. Temperatures always have halo cells, so that
            // hybrid thermal blocks are not self-periodic.
            const bool may_be = device == Device::Gpu || spec.state->keeps_moments;
            const bool is_slabbed = spec.state->lattices_overlap && d == S::D - 1;
            a.self_periodic[d] = may_be && spec.self_periodic[d] && !is_hybrid(spec) && !is_slabbed;
        }
        if (device == Device::Gpu && spec.state->keeps_moments && a.nx % 2 != 0) {
            a.self_periodic[0] = false;  // a thread loads two cells at once
        }
        return a;
    });
}

VelocityRows velocity_rows(const BlockSpec& spec, Device device) {
    if (!keeps_velocity(spec)) {
        return {};
    }
    BlockSpec without = spec;
    without.turbulence = no_turbulence;
    without.takes_strain = false;
    const Address a = block_address(without, device);
    const int D = with_stencil(spec.stencil, [](auto s) { return decltype(s)::D; });
    return rows_behind(a.row_stride, spec, device, D, a.pitch, line_bytes / Index(size_of(spec.storage)));
}

int gradient_terms(const BlockSpec& spec) {
    const int D = with_stencil(spec.stencil, [](auto s) { return decltype(s)::D; });
    return gradient_term_count(D, spec.turbulence != no_turbulence, spec.takes_strain);
}

int trim_unit(const BlockSpec& spec, Device device) {
    constexpr std::size_t widest_pack = 64, sector = 32;  // bytes
    if (spec.state->make_block != nullptr || spec.state->steps_per_launch > 1) {
        return 0;
    }
    if (device == Device::Cpu) {
        return int(widest_pack / size_of(spec.precision));
    }
    return is_multispeed(spec) ? int(sector / size_of(spec.storage)) : 0;
}

EndColumns end_columns(const BlockSpec& spec, Device device) {
    if (device == Device::Cpu || !spec.cuts_rows || !has_temperature(spec)) {
        return {};  // other models exchange x-face buffers, which are contiguous
    }
    const Address a = block_address(spec, device);
    const Index line = line_bytes / Index(size_of(spec.storage));
    return {(elements_before_columns(spec, a) + line - 1) / line * line, is_hybrid(spec) ? 1 : a.halo_x,
            is_hybrid(spec) ? spec.state->phases : a.Q};
}

Slabs slabs_of(const BlockSpec& spec, Device device) {
    const int D = with_stencil(spec.stencil, [](auto s) { return decltype(s)::D; });
    const int n = spec.size[D - 1], depth = halo_depth(spec);
    // Beside its own layers a slab reads 2 d, and thin ones do not fill a device. A sixth of the layers, or a quarter
    // of those of two dimensions, where d is larger, is memory that is not missed, nor are more layers of small blocks.
    const int parts = D == 3 ? 6 : 4;
    const int spare = std::max((n + parts - 1) / parts, 16 * depth);
    // A GPU begins a slab while the thread blocks of the one before end, which do not fill it.
    const int side_by_side = device == Device::Gpu ? 2 : 1;
    const int layers = (spare + side_by_side - 1) / side_by_side;
    Slabs slabs{};
    slabs.count = (n + layers - 1) / layers;
    slabs.at_once = std::min(side_by_side, slabs.count);
    slabs.shift = slabs.at_once * ((n + slabs.count - 1) / slabs.count) + depth;
    return slabs;
}

std::size_t lattice_shift(const BlockSpec& spec, Device device) {
    const Address a = block_address(spec, device);
    const Index layer = a.row_stride * (a.halo_z > 0 ? a.ny + 2 * a.halo_y : 1);
    return std::size_t(slabs_of(spec, device).shift * layer) * size_of(spec.storage);
}

std::size_t lattice_bytes(const BlockSpec& spec, Device device) {
    const Address a = block_address(spec, device);
    const EndColumns columns = end_columns(spec, device);
    const Index elements = columns.depth == 0 ? elements_before_columns(spec, a) : columns.first + columns.count(a);
    return std::size_t(elements) * size_of(spec.storage);
}

std::size_t block_bytes(const BlockSpec& spec, Device device) {
    const Index rows = Index(spec.size[1]) * spec.size[2] * gradient_terms(spec);
    const std::size_t one = lattice_bytes(spec, device);
    const std::size_t all =
        spec.state->lattices_overlap ? one + lattice_shift(spec, device) : std::size_t(spec.state->lattices) * one;
    return all + std::size_t(rows * field_pitch(spec.size[0])) * size_of(spec.precision);
}

}  // namespace lbm::backend
