// The list of the stencils, from which all that depends on them is derived.
#pragma once

#include "../type_list.h"
#include "d2q37.h"
#include "d2q9.h"
#include "d3q19.h"
#include "d3q27.h"

namespace lbm {

using Stencils = TypeList<D2Q9, D3Q19, D3Q27, D2Q37>;

}  // namespace lbm
