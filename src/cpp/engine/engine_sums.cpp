// The engine's members that reduce over all cells of the domain: divergence, forces on bodies, totals, changes.
#include <cmath>
#include <limits>

#include "engine.h"

namespace lbm::engine {

std::optional<backend::Cell> Engine::find_diverged() {
    double first = std::numeric_limits<double>::infinity();
    for (const Part& part : parts_) {
        if (std::optional<backend::Cell> cell = part.state->find_diverged()) {
            const int(&offset)[3] = part.place.offset;
            first =
                std::min(first, double(domain_.cell(cell->x + offset[0], cell->y + offset[1], cell->z + offset[2])));
        }
    }
    first = -comm_->maximum(-first);
    if (std::isinf(first)) {
        return std::nullopt;
    }
    const Index row = Index(first) / domain_.size[0];
    return backend::Cell{int(Index(first) % domain_.size[0]), int(row % domain_.size[1]), int(row / domain_.size[1])};
}

backend::ForceAndTorque Engine::body_force(int body, const double (&center)[3]) {
    prepare();
    backend::ForceAndTorque sum{};
    for (const Part& part : parts_) {
        const backend::ForceAndTorque own = part.state->body_force(part.plan.body_links(body), center);
        for (int d = 0; d < 3; ++d) {
            sum.force[d] += own.force[d];
            sum.torque[d] += own.torque[d];
        }
    }
    comm_->sum(sum.force, 3);
    comm_->sum(sum.torque, 3);
    return sum;
}

backend::Totals Engine::totals() {
    backend::Totals totals{};
    for (const Part& part : parts_) {
        const backend::Totals own = part.state->totals();
        totals.mass += own.mass;
        totals.energy += own.energy;
        totals.heat += own.heat;
        for (int d = 0; d < 3; ++d) {
            totals.momentum[d] += own.momentum[d];
        }
    }
    comm_->sum(&totals.mass, 1);
    comm_->sum(totals.momentum, 3);
    comm_->sum(&totals.energy, 1);
    comm_->sum(&totals.heat, 1);
    return totals;
}

double Engine::velocity_change() {
    double sums[2] = {0, 0};
    for (const Part& part : parts_) {
        double change = 0, norm = 0;
        part.state->velocity_change(change, norm);
        sums[0] += change;
        sums[1] += norm;
    }
    comm_->sum(sums, 2);
    if (sums[1] == 0) {
        return sums[0] > 0 ? std::numeric_limits<double>::infinity() : 0;
    }
    return std::sqrt(sums[0] / sums[1]);
}

}  // namespace lbm::engine
