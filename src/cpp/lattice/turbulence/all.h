// The list of the turbulence models. The words of setups, the kernels, their names and what is refused follow from it.
#pragma once

#include "../type_list.h"
#include "smagorinsky.h"
#include "vreman.h"
#include "wale.h"

namespace lbm {

using TurbulenceModels = TypeList<Smagorinsky, WALE, Vreman>;

}  // namespace lbm
