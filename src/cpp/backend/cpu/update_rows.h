// The update of rows of cells at one temperature, by any collision, for one stencil and one instruction set.
#pragma once

#include "row_pack.h"

namespace lbm::cpu {
namespace {

/// Not inlined: branches between loading and storing take more registers than there are, and the packs within a row
/// are spared them.
template <class Collision, class Real, class Storage, class Parameters>
[[gnu::noinline]] void update_any_pack(const Row<Real, Storage>& row, Index x, const Parameters& parameters) {
    const AnyPack<Real, Storage> pack{row, x};
    update_cell<S, Collision>(pack, parameters);
}

template <class Collision, class Real, class Storage>
void update_rows(const UpdateArguments& a, Index first, Index last) {
    using Here = Row<Real, Storage>;
    using Parameters = typename Collision::template Parameters<Real>;
    const Laminar<Parameters> laminar{parameters_from<Parameters>(a.parameters)};
    const Parameters& parameters = laminar;
    const bool plain =
        !a.forced && a.eddy_viscosity == nullptr && a.strain == nullptr && !(parameters.smagorinsky_factor > 0);
    Here row(a);
    for (Index r = first; r < last; ++r) {
        row.enter(int(r % a.address.ny), int(r / a.address.ny));
        for (Index x = a.first_x; x < a.end_x; x += Here::W) {
            if (plain && x > 0 && x + Here::W < a.address.nx) {
                const InnerPack<Real, Storage> pack{row, x};
                update_cell<S, Collision>(pack, laminar);
            } else {
                update_any_pack<Collision>(row, x, parameters);
            }
        }
    }
}

}  // namespace
}  // namespace lbm::cpu
