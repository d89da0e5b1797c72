// What the update of a block is handed that its steps do not change: rates, and where populations arrive and depart.
#pragma once

#include <type_traits>

#include "../block_state.h"
#include "../custom/padded.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

/// Where populations and temperatures arrive and depart.
template <class Arguments>
void set_places(Arguments& a, const backend::BlockSpec& spec, const Address& address, Phase phase) {
    a.address = address;
    a.rows = {0, 0, address.ny, address.nz};
    a.heat = converted<decltype(a.heat.source)>(spec.heat);
    a.temperature_before = address.temperature + temperature_slot(next_phase(phase)) * address.temperature_stride;
    a.temperature_after = address.temperature + temperature_slot(phase) * address.temperature_stride;
    backend::with_stencil(spec.stencil, [&](auto s) {
        using S = decltype(s);
        if constexpr (!Stencil<S>::multispeed) {  // it has arguments of its own
            static_assert(S::Q <= max_Q);
            const auto offset = [&](NeighborSlot place, int i) {
                const Index y = address.self_periodic[1] ? 0 : S::c[i][1],
                            z = address.self_periodic[2] ? 0 : S::c[i][2];
                const Index rows = z * (address.ny + 2 * address.halo_y) + y;
                return (place.slot * address.population_stride + place.along * rows * address.row_stride) *
                       Index(backend::size_of(spec.storage));
            };
            for (int i = 0; i < S::Q; ++i) {
                a.arrive[i] = offset(incoming_slot<S>(phase, i), i);
                a.depart[i] = offset(outgoing_slot<S>(phase, i), i);
            }
        }
    });
}

/// Calls visit with the arguments of the update of a spec, which depend on its collision: all but the lattices and what
/// drives the flow, of all rows.
template <class Real, class Visit>
void with_update_arguments(const backend::BlockSpec& spec, const Address& address, Phase phase, Visit&& visit) {
    if (spec.custom) {
        UpdateArguments<Real, custom::Numbers<Real>> a{};
        a.parameters = backend::parameters_of<custom::Numbers<Real>>(spec);
        set_places(a, spec, address, phase);
        visit(a);
        return;
    }
    backend::with_collision(spec.collision, [&](auto c) {
        using Parameters = typename decltype(c)::template Parameters<Real>;
        const auto parameters = backend::parameters_of<Parameters>(spec);
        if constexpr (std::is_same_v<Parameters, MultispeedParameters<Real>>) {
            MultispeedArguments<Real> a{nullptr, nullptr, address, {0, 0, address.ny, address.nz}, parameters};
            visit(a);
        } else {
            UpdateArguments<Real, Parameters> a{};
            a.parameters = parameters;
            set_places(a, spec, address, phase);
            visit(a);
        }
    });
}

}  // namespace lbm::cuda
