// Compiles every stencil, collision and arithmetic of lattice/ alone, for the host by g++ and for a GPU by nvcc.
#include "../../src/cpp/lattice/cell_update.h"
#include "../../src/cpp/lattice/collisions/all.h"
#include "../../src/cpp/lattice/links.h"
#include "../../src/cpp/lattice/models.h"
#include "../../src/cpp/lattice/stencils/all.h"
#include "../../src/cpp/lattice/storage.h"

#if defined(__CUDACC__)
#define KERNEL __global__
#else
#define KERNEL
#endif

namespace lbm {

/// One cell of a lattice, updated in place or into another lattice.
template <class S, class Real, class Stored>
struct ScalarCell {
    using Value = Real;
    static constexpr Real unit = storage_unit<Stored>;
    const Address& address;
    Phase phase;
    const Stored* source;
    Stored* target;
    int x, y, z;
    const Real* uniform_force;

    LBM_HD void load(Real (&h)[S::Q]) const {
        for (int i = 0; i < S::Q; ++i) {
            h[i] = units_from_storage<Real>(source[post_streaming_offset<S>(address, phase, x, y, z, i)]);
        }
    }
    LBM_HD bool force(Real (&force)[S::D]) const {
        for (int d = 0; d < S::D; ++d) {
            force[d] = uniform_force[d];
        }
        return true;
    }
    LBM_HD Real compressibility() const { return Real(1); }
    LBM_HD void store(const Real (&h)[S::Q]) const {
        for (int i = 0; i < S::Q; ++i) {
            target[post_collision_offset<S>(address, next_phase(phase), x, y, z, i)] = Store<Stored>::from_units(h[i]);
        }
    }
};

template <class S, class Collision, class Real, class Stored>
KERNEL void update(Address address, Phase phase, typename Collision::template Parameters<Real> parameters,
                   const Stored* source, Stored* target, const Real* force) {
#if defined(__CUDA_ARCH__)
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = int(blockIdx.y);
    const int z = int(blockIdx.z);
#else
    const int x = 0;
    const int y = 0;
    const int z = 0;
#endif
    if (x < address.nx) {
        ScalarCell<S, Real, Stored> cell{address, phase, source, target, x, y, z, force};
        update_cell<S, Collision>(cell, parameters);
    }
}

/// The kernels of all stencils, collisions and numbers, so that each is compiled.
template <class Real, class Stored>
const void* const* menu() {
    static const void* kernels[Stencils::size * Collisions::size];
    int count = 0;
    for_types(Stencils{}, [&](auto stencil) {
        using S = typename decltype(stencil)::type;
        for_types(Collisions{}, [&](auto collision) {
            using Collision = typename decltype(collision)::type;
            if constexpr (Isothermal::has_stencil<S> && Collision::template goes_with<S>) {
                kernels[count++] = reinterpret_cast<const void*>(&update<S, Collision, Real, Stored>);
            }
        });
    });
    return kernels;
}
template const void* const* menu<float, float>();
template const void* const* menu<float, Half>();
template const void* const* menu<double, double>();

}  // namespace lbm
