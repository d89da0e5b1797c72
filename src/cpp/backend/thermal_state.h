// The additional interface of blocks whose model has a temperature.
#pragma once

#include <vector>

#include "link_data.h"

namespace lbm::backend {

class ThermalState {
public:
    ThermalState() = default;
    ThermalState(const ThermalState&) = delete;
    ThermalState& operator=(const ThermalState&) = delete;
    virtual ~ThermalState() = default;

    /// Sets the temperature increase per step: uniform, or a field, which is copied.
    virtual void set_heat_source(double uniform, const double* field) = 0;

    /// The temperature of all cells; 0 in solid cells.
    virtual void temperature(float* out) const = 0;
    virtual void temperature(double* out) const = 0;
    /// Sets the temperature of all cells; null for 0 everywhere.
    virtual void set_temperature(const double* values) = 0;
    /// The sum of heat samples, and each of them in `each` unless that is null.
    virtual double heat(const std::vector<HeatSample>& samples, double* each) const = 0;
    /// The heat of `count` of the plan's wall columns from the number `first` on, whose halo is filled; of blocks of
    /// the multispeed thermal model.
    virtual void column_heat(Index first, Index count, ColumnHeat* out) const = 0;
    /// The largest change of the temperature of any cell since the last call. The first call gives an infinite change.
    virtual double temperature_change() = 0;
};

}  // namespace lbm::backend
