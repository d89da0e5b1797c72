// The list of the collisions, from which all that depends on them is derived.
#pragma once

#include "../type_list.h"
#include "bgk.h"
#include "central_moments.h"
#include "cumulant.h"
#include "mrt.h"
#include "recursive_regularized.h"
#include "regularized.h"
#include "thermal_bgk.h"
#include "trt.h"

namespace lbm {

using Collisions = TypeList<BGK, TRT, MRT, Regularized, CentralMoments, RecursiveRegularized, Cumulant, ThermalBGK>;

}  // namespace lbm
