// The update of rows of cells whose fluid has a temperature, by any collision, for one stencil and one instruction set.
#pragma once

#include "../../lattice/thermal_update.h"
#include "row_pack.h"

namespace lbm::cpu {
namespace {

/// The temperatures of a row, of before the step and of after it.
template <class Storage>
struct ThermalRow {
    LBM_HD void enter(const UpdateArguments& a, int y, int z) {
        before = static_cast<const Storage*>(a.source) + temperature_offset(a.address, next_phase(a.phase), 0, y, z);
        after = static_cast<Storage*>(a.target) + temperature_offset(a.address, a.phase, 0, y, z);
    }

    const Storage* before;
    Storage* after;
};

template <class Real, class Storage>
struct ThermalPack {
    using Cells = AnyPack<Real, Storage>;
    static constexpr int W = Cells::W;
    using Value = typename Cells::Value;
    static constexpr Real unit = Cells::unit;

    const Row<Real, Storage>& row;
    Index x;
    const ThermalRow<Storage>& temperatures;

    LBM_HD void load(Value (&h)[Q]) const { Cells{row, x}.load(h); }
    LBM_HD void store(const Value (&h)[Q]) const { Cells{row, x}.store(h); }
    LBM_HD Real compressibility() const { return row.compressibility; }
    LBM_HD void force(Value (&force)[S::D]) const { Cells{row, x}.force(force); }
    LBM_HD bool eddy_viscosity(Value& viscosity) const { return Cells{row, x}.eddy_viscosity(viscosity); }
    LBM_HD bool strain(Value (&strain)[symmetric_count<S::D>]) const { return Cells{row, x}.strain(strain); }
    LBM_HD void keep_velocity(const Value (&velocity)[S::D]) const { Cells{row, x}.keep_velocity(velocity); }

    LBM_HD LocalTemperature<S, Value> local_temperature(const HeatParameters<Real>& heat) const {
        const Address& a = row.a.address;
        const Index rows = a.row_stride, layers = a.row_stride * (a.ny + 2 * a.halo_y);
        const Storage* here = temperatures.before + x;
        return lbm::local_temperature<S>(
            load_stored<Real, W>(here),
            [&]<int i>() LBM_INLINE_LAMBDA {
                return load_stored<Real, W>(here + S::c[i][0] + S::c[i][1] * rows + S::c[i][2] * layers);
            },
            heat);
    }
    LBM_HD Value heat_source(const HeatParameters<Real>& heat) const {
        const UpdateArguments& a = row.a;
        if (a.heat_field == nullptr) {
            return Value{} + heat.source;
        }
        const Index r = Index(row.z) * a.address.ny + row.y;
        return load_pack<Real, W>(static_cast<const Real*>(a.heat_field) + r * a.force_pitch + x);
    }
    LBM_HD void store_temperature(Value temperature) const {
        store_stored<Real, W>(temperatures.after + x, temperature);
    }
};

/// Not inlined, as of packs without a temperature.
template <class Collision, class Real, class Storage>
[[gnu::noinline]] void update_thermal_pack(const Row<Real, Storage>& row, Index x,
                                           const ThermalRow<Storage>& temperatures,
                                           const typename Collision::template Parameters<Real>& parameters,
                                           const HeatParameters<Real>& heat) {
    const ThermalPack<Real, Storage> pack{row, x, temperatures};
    update_thermal_cell<S, Collision>(pack, parameters, heat);
}

template <class Collision, class Real, class Storage>
void update_thermal_rows(const UpdateArguments& a, Index first, Index last) {
    using Here = Row<Real, Storage>;
    const auto parameters = parameters_from<typename Collision::template Parameters<Real>>(a.parameters);
    const auto heat = converted<Real>(a.heat);
    Here row(a);
    ThermalRow<Storage> temperatures{};
    for (Index r = first; r < last; ++r) {
        const int y = int(r % a.address.ny), z = int(r / a.address.ny);
        row.enter(y, z);
        temperatures.enter(a, y, z);
        for (Index x = a.first_x; x < a.end_x; x += Here::W) {
            update_thermal_pack<Collision>(row, x, temperatures, parameters, heat);
        }
    }
}

}  // namespace
}  // namespace lbm::cpu
