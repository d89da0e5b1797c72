// The density that multiplies the velocity in the momentum of a cell, in the equilibrium and in wall momentum terms.
//
// It is the density rho, or with the incompressible equilibrium the reference density rho_0 = 1: rho - 1 then stands
// for the pressure alone (He & Luo, J. Stat. Phys. 88 (1997) 927). One number chooses between them, the
// `compressibility`, 1 or 0. It is known at run time only, so that kernels are compiled once for both, and multiplying
// by 1 leaves the bits of compressible flows as they are.
#pragma once

#include "portability.h"

namespace lbm {

/// The density of inertia of a density's deviation from 1.
template <class V, class Real>
LBM_HD V inertia_of_deviation(V deviation, Real compressibility) {
    return deviation * compressibility + Real(1);
}

/// The same of a density itself; exactly that density, or exactly 1.
template <class Real>
LBM_HD Real inertia_of_density(Real density, Real compressibility) {
    return compressibility * density + (Real(1) - compressibility);
}

}  // namespace lbm
