// Sets the numbers of a plan that depend on temperatures of walls, and on velocities for gradients, where these change
// in time: a thread for each number, before all other kernels of a step. Those read the lists before they wait for the
// kernel before, so that they are launched without programmatic dependent launch then.
#pragma once

#include "../../../lattice/storage.h"
#include "factors_of_step.h"

namespace lbm::cuda {

template <class S, class Real, class Stored, int members = 1>
__global__ void scale_numbers(const __grid_constant__ Members<members, ScaledNumberArguments> all) {
    const ScaledNumberArguments& a = all.own();
    set_row_of_update_after(a.scaling);
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k >= a.count) {
        return;
    }
    using Of = backend::ScaledNumber::Of;
    const backend::ScaledNumber number = a.numbers[k];
    const double value = backend::scaled_number(number, a.terms, factors_of_step(a.scaling));
    switch (number.of) {
        case Of::WallTemperature: a.lists.wall_temperatures[number.index].value = value; break;
        case Of::ThermalLink: a.lists.thermal_links[number.index].value = value; break;
        case Of::VelocityLink: a.lists.velocity_links[number.index].value[number.component] = value; break;
        case Of::ColumnTemperature: a.lists.wall_columns[number.index].wall.theta = value; break;
        case Of::ColumnGradient: a.lists.wall_columns[number.index].wall.gradient = value; break;
        case Of::ColumnCurvature: a.lists.wall_columns[number.index].wall.curvature = value; break;
    }
}

}  // namespace lbm::cuda
