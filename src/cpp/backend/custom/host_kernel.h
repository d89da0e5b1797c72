// The functions that the shared object of a custom collision exports, for one stencil, instruction set and pair of
// number types: the update of rows, and the making of parameters. It is included after the user's text.
#pragma once

#include "given.h"

#define LBM_EXPORTED extern "C" __attribute__((visibility("default")))

LBM_EXPORTED void lbm_custom_update(const lbm::cpu::UpdateArguments& a, lbm::Index first, lbm::Index last) {
    if constexpr (LBM_COLLISION::goes_with<LBM_STENCIL>) {
        lbm::cpu::LBM_UPDATE<LBM_COLLISION, LBM_REAL, LBM_STORED>(a, first, last);
    }
}

LBM_EXPORTED void lbm_custom_parameters(const lbm::custom::GivenNumber* given, int count, lbm::custom::Made* made) {
    lbm::custom::make_parameters<LBM_STENCIL, LBM_COLLISION>(given, count, *made);
}
