// What the block of a fluid with a temperature has beside what all blocks have.
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

    /// Heat a step and cell: uniform, or a field that is copied in.
    virtual void set_heat_source(double uniform, const double* field) = 0;

    /// 0 in solid cells.
    virtual void temperature(float* out) const = 0;
    virtual void temperature(double* out) const = 0;
    /// Null: 0 everywhere.
    virtual void set_temperature(const double* values) = 0;
    /// The sum of samples of the plan, and each of them where wanted.
    virtual double heat(const std::vector<HeatSample>& samples, double* each) const = 0;
    /// Largest change of the temperature of a cell, which is remembered. The first call gives an infinite change.
    virtual double temperature_change() = 0;
};

}  // namespace lbm::backend
