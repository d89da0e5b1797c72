// The arguments of a block's update kernel that do not change from step to step: parameters, and the slots of
// populations and temperatures.
#pragma once

#include <algorithm>
#include <type_traits>

#include "../block_layout.h"
#include "../custom/padded.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

/// How many rows ahead of its own a thread asks for populations: those of an eighth of the second-level cache, which
/// holds what the running thread blocks read and write besides. On an NVIDIA H200 a sixth of it pushes out what is
/// still needed, with float16 first, and a twelfth comes too late. 0 for a lattice that the cache holds, for rows that
/// are not adjacent in memory, and for the few populations of two dimensions, which the registers have room for.
inline unsigned rows_ahead(const backend::BlockSpec& spec, const Address& address, const backend::RowBox& rows,
                           std::size_t l2_bytes) {
    const std::size_t row_bytes = std::size_t(address.row_stride) * backend::size_of(spec.storage);
    const bool fits = std::size_t(address.ny) * std::size_t(address.nz) * row_bytes <= l2_bytes;
    const bool adjacent = rows.step_y == 1 && rows.step_z == 1 && rows.ny + 2 >= address.ny;  // all, or an interior
    return fits || !adjacent ? 0 : unsigned(std::max<std::size_t>(1, l2_bytes / 8 / row_bytes));
}

/// Selects the rows to update.
template <class Arguments>
void set_rows(Arguments& a, const backend::BlockSpec& spec, const backend::RowBox& rows, std::size_t l2_bytes) {
    a.rows = rows;
    if constexpr (requires { a.rows_ahead; }) {
        a.rows_ahead = rows_ahead(spec, a.address, rows, l2_bytes);
    }
    if constexpr (requires { a.inverse_ny; }) {
        a.inverse_ny = rows.ny > 0 ? 0xFFFFFFFFU / UInt32(rows.ny) : 0;
    }
}

/// Sets the offsets of the slots from which incoming populations and temperatures are read and to which outgoing ones
/// are written in a step of `phase`.
template <class Arguments>
void set_slots(Arguments& a, const backend::BlockSpec& spec, const Address& address, Phase phase) {
    a.address = address;
    a.force_pitch = backend::field_pitch(address.nx);
    a.compressibility = static_cast<decltype(a.compressibility)>(spec.compressibility);
    a.heat = converted<decltype(a.heat.source)>(spec.heat);
    a.temperature_before = address.temperature + temperature_slot(next_phase(phase)) * address.temperature_stride;
    a.temperature_after = address.temperature + temperature_slot(phase) * address.temperature_stride;
    backend::with_stencil(spec.stencil, [&](auto s) {
        using S = decltype(s);
        if constexpr (!Stencil<S>::multispeed) {  // these use MultispeedArguments
            static_assert(S::Q <= max_Q);
            const auto offset = [&](NeighborSlot place, int i) {
                const Index y = address.self_periodic[1] ? 0 : S::c[i][1],
                            z = address.self_periodic[2] ? 0 : S::c[i][2];
                const Index rows = z * (address.ny + 2 * address.halo_y) + y;
                return (place.slot * address.population_stride + place.shift * rows * address.row_stride) *
                       Index(backend::size_of(spec.storage));
            };
            for (int i = 0; i < S::Q; ++i) {
                a.incoming_offset[i] = offset(incoming_slot<S>(phase, i), i);
                a.outgoing_offset[i] = offset(outgoing_slot<S>(phase, i), i);
            }
        }
    });
}

/// Calls visit with the arguments of a block's update, whose type depends on the collision. They are complete but for
/// the lattices, the rows, forces and heat sources.
template <class Real, class Visit>
void with_update_arguments(const backend::BlockSpec& spec, const Address& address, Phase phase, Visit&& visit) {
    if (spec.custom) {
        UpdateArguments<Real, custom::Numbers<Real>> a{};
        a.parameters = backend::parameters_of<custom::Numbers<Real>>(spec);
        set_slots(a, spec, address, phase);
        visit(a);
        return;
    }
    backend::with_collision(spec.collision, [&](auto c) {
        using Parameters = typename decltype(c)::template Parameters<Real>;
        const auto parameters = backend::parameters_of<Parameters>(spec);
        if constexpr (std::is_same_v<Parameters, MultispeedParameters<Real>>) {
            MultispeedArguments<Real> a{nullptr, nullptr, address, {0, 0, address.ny, address.nz}, parameters};
            visit(a);
        } else if (backend::keeps_velocity(spec)) {
            // The kernel's parameters are those of a laminar flow, or not, and those of an eddy viscosity or of a
            // strain rate; all lie in memory in the same way.
            UpdateArguments<Real, WithGradientTerms<Parameters, Real, GradientTerms<void, true>, false, false>> a{};
            static_cast<Parameters&>(a.parameters) = parameters;
            const VelocityRows velocity = backend::velocity_rows(spec, backend::Device::Gpu);
            a.parameters.turbulence_factor = Real(spec.turbulence_factor);
            a.parameters.velocity_before = velocity.from_cell(next_phase(phase), 0);
            a.parameters.kept_velocity = velocity.from_cell(phase, 0);
            a.parameters.velocity_stride = velocity.stride;
            set_slots(a, spec, address, phase);
            visit(a);
        } else {
            UpdateArguments<Real, Parameters> a{};
            a.parameters = parameters;
            set_slots(a, spec, address, phase);
            visit(a);
        }
    });
}

}  // namespace lbm::cuda
