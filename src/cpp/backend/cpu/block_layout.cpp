// Where the elements of a CPU block lie: the padding of rows and the size of the whole.
#include "../../lattice/stencil.h"
#include "cpu_block.h"

namespace lbm::cpu {
namespace {

constexpr Index line_bytes = 128;  // x = 0 of every row is aligned to this

/// Rows are whole lines. Pitches of a multiple of 1 KiB would put the populations of a cell into the same few sets of
/// the first-level cache, so those get one more line.
Index row_pitch(int nx, std::size_t element) {
    const Index line = line_bytes / Index(element);
    const Index pitch = (nx + line - 1) / line * line;
    return pitch * Index(element) % 1024 == 0 ? pitch + line : pitch;
}

}  // namespace

Address block_address(const backend::BlockSpec& spec) {
    return backend::with_stencil(spec.stencil, [&](auto s) {
        using S = decltype(s);
        const std::size_t element = backend::size_of(spec.storage);
        Address a{};
        a.nx = spec.size[0];
        a.ny = spec.size[1];
        a.nz = spec.size[2];
        a.halo_y = S::reach;
        a.halo_z = S::D == 3 ? S::reach : 0;
        a.Q = S::Q;
        a.crossing = Stencil<S>::crossing;
        a.lead = line_bytes / Index(element);
        a.pitch = row_pitch(a.nx, element);
        a.population_stride = a.pitch;
        a.row_stride = a.Q * a.pitch;
        a.sides = a.lead + Index(a.ny + 2 * a.halo_y) * (a.nz + 2 * a.halo_z) * a.row_stride + a.lead;
        return a;
    });
}

std::size_t block_bytes(const backend::BlockSpec& spec) {
    const Address a = block_address(spec);
    const Index elements = a.side_out(1, a.crossing, 0, 0);
    return (spec.in_place ? 1 : 2) * std::size_t(elements) * backend::size_of(spec.storage);
}

}  // namespace lbm::cpu
