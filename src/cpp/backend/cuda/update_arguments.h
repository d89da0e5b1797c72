// What the update of a block is handed that its steps do not change: rates, and where populations arrive and depart.
#pragma once

#include "../block_state.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

/// All but the lattices and the force; of all rows.
template <class Real>
UpdateArguments<Real> update_arguments(const backend::BlockSpec& spec, const Address& address, Phase phase) {
    UpdateArguments<Real> a{};
    a.address = address;
    a.rows = {0, 0, address.ny, address.nz};
    a.parameters = converted<Real>(spec.parameters);
    a.heat = converted<Real>(spec.heat);
    a.temperature_before = address.temperature + temperature_slot(next_phase(phase)) * address.temperature_stride;
    a.temperature_after = address.temperature + temperature_slot(phase) * address.temperature_stride;
    backend::with_stencil(spec.stencil, [&](auto s) {
        using S = decltype(s);
        if constexpr (!Stencil<S>::multispeed) {  // it has arguments of its own
            static_assert(S::Q <= max_Q);
            const auto offset = [&](Place place, int i) {
                const Index y = address.wraps[1] ? 0 : S::c[i][1], z = address.wraps[2] ? 0 : S::c[i][2];
                const Index rows = z * (address.ny + 2 * address.halo_y) + y;
                return (place.slot * address.population_stride + place.along * rows * address.row_stride) *
                       Index(backend::size_of(spec.storage));
            };
            for (int i = 0; i < S::Q; ++i) {
                a.arrive[i] = offset(arriving<S>(phase, i), i);
                a.depart[i] = offset(departing<S>(phase, i), i);
            }
        }
    });
    return a;
}

/// The same where populations carry the energy.
template <class Real>
KineticArguments<Real> kinetic_arguments(const backend::BlockSpec& spec, const Address& address) {
    return {nullptr, nullptr, address, {0, 0, address.ny, address.nz}, converted<Real>(spec.kinetic)};
}

}  // namespace lbm::cuda
