// The functions that the shared object of a custom collision exports, for one stencil, instruction set and pair of
// number types: the update of rows, and the making of parameters. It is included after the user's text.
#pragma once

#include "make_parameters.h"

#define LBM_EXPORTED extern "C" __attribute__((visibility("default")))

namespace lbm::cpu {

/// A template, so that nothing is compiled of a collision that is not whole.
template <class Collision>
void update_custom_rows(const UpdateArguments& a, Index first, Index last) {
    if constexpr (custom::Whole<Collision>) {
        if constexpr (Collision::template goes_with<LBM_STENCIL>) {
            LBM_UPDATE<Collision, LBM_REAL, LBM_STORED>(a, first, last);
        }
    }
}

template <class Collision>
void make_custom_parameters(const custom::GivenNumber* given, int count, custom::Made& made) {
    if constexpr (custom::Whole<Collision>) {
        custom::make_parameters<LBM_STENCIL, Collision>(given, count, made);
    }
}

}  // namespace lbm::cpu

LBM_EXPORTED void lbm_custom_update(const lbm::cpu::UpdateArguments& a, lbm::Index first, lbm::Index last) {
    lbm::cpu::update_custom_rows<LBM_COLLISION>(a, first, last);
}

LBM_EXPORTED void lbm_custom_parameters(const lbm::custom::GivenNumber* given, int count, lbm::custom::Made* made) {
    lbm::cpu::make_custom_parameters<LBM_COLLISION>(given, count, *made);
}
