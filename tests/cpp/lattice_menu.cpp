// Compiles every stencil, collision and arithmetic of lattice/ alone, for the host by g++ and for a GPU by nvcc.
#include "../../src/cpp/lattice/cell_update.h"
#include "../../src/cpp/lattice/collisions/bgk.h"
#include "../../src/cpp/lattice/collisions/mrt.h"
#include "../../src/cpp/lattice/collisions/regularized.h"
#include "../../src/cpp/lattice/collisions/trt.h"
#include "../../src/cpp/lattice/links.h"
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
            h[i] = units_from_storage<Real>(source[arriving_offset<S>(address, phase, x, y, z, i)]);
        }
    }
    LBM_HD bool force(Real (&force)[S::D]) const {
        for (int d = 0; d < S::D; ++d) {
            force[d] = uniform_force[d];
        }
        return true;
    }
    LBM_HD void store(const Real (&h)[S::Q]) const {
        for (int i = 0; i < S::Q; ++i) {
            target[departed_offset<S>(address, next_phase(phase), x, y, z, i)] = Store<Stored>::from_units(h[i]);
        }
    }
};

template <class S, class Collision, class Real, class Stored>
KERNEL void update(Address address, Phase phase, CollisionParameters<Real> parameters, const Stored* source,
                   Stored* target, const Real* force) {
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

#define LBM_MENU(S, Collision)                                                                                        \
    template KERNEL void update<S, Collision, float, float>(Address, Phase, CollisionParameters<float>, const float*, \
                                                            float*, const float*);                                    \
    template KERNEL void update<S, Collision, float, Half>(Address, Phase, CollisionParameters<float>, const Half*,   \
                                                           Half*, const float*);                                      \
    template KERNEL void update<S, Collision, double, double>(Address, Phase, CollisionParameters<double>,            \
                                                              const double*, double*, const double*);
#define LBM_MENU_OF_STENCIL(S) \
    LBM_MENU(S, BGK)           \
    LBM_MENU(S, TRT)           \
    LBM_MENU(S, MRT)           \
    LBM_MENU(S, Regularized)

LBM_MENU_OF_STENCIL(D2Q9)
LBM_MENU_OF_STENCIL(D3Q19)
LBM_MENU_OF_STENCIL(D3Q27)

}  // namespace lbm
