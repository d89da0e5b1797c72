// The engine's members that reduce over all cells of the domain: extremes, forces on bodies, totals, changes.
#include <cmath>
#include <limits>

#include "engine.h"

namespace lbm::engine {

backend::Extremes Engine::extremes() {
    backend::Extremes all = backend::Extremes::of_none();
    for (const Part& part : parts_) {
        backend::Extremes own = part.state->extremes();
        for (double* cell : {&own.fastest, &own.invalid}) {
            if (std::isfinite(*cell)) {
                const int(&offset)[3] = part.place.offset, (&size)[3] = part.place.size;
                const Index at = Index(*cell), row = at / size[0];
                *cell = double(domain_.cell(int(at % size[0]) + offset[0], int(row % size[1]) + offset[1],
                                            int(row / size[1]) + offset[2]));
            }
        }
        all.join(own);
    }
    const double speed2 = comm_->maximum(all.speed2);
    all.fastest = -comm_->maximum(all.speed2 == speed2 ? -all.fastest : -backend::Extremes::infinite());
    all.speed2 = speed2;
    all.lowest = -comm_->maximum(-all.lowest);
    all.highest = comm_->maximum(all.highest);
    all.invalid = -comm_->maximum(-all.invalid);
    all.coldest = -comm_->maximum(-all.coldest);
    all.hottest = comm_->maximum(all.hottest);
    return all;
}

backend::ForceAndTorque Engine::body_force(int body, const double (&center)[3]) {
    prepare();
    if (domain_.body_cuts[std::size_t(body)].are_given) {
        supply_incoming();
    }
    return sum_of([&](const Part& part) { return part.state->body_force(part.plan.body_links(body), center); });
}

backend::Totals Engine::totals() {
    backend::Totals totals{};
    for (const Part& part : parts_) {
        totals.join(part.state->totals());
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
