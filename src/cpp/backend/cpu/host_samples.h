// Samples of the state of a block on the CPU: of its cells, and of the force on a body.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../block_state.h"
#include "../multispeed_cells.h"
#include "../wall_links.h"
#include "threads.h"

namespace lbm::cpu {

/// Samples of so many numbers, which a function measures.
class HostSamples final : public backend::StateSamples {
public:
    HostSamples(std::size_t width, std::function<void(double*)> measure)
        : width_(width), measure_(std::move(measure)) {}

    void take() override {
        const std::size_t before = numbers_.size();
        numbers_.resize(before + width_);
        try {
            measure_(numbers_.data() + before);
        } catch (...) {
            numbers_.resize(before);
            throw;
        }
    }
    void forget_last() noexcept override { numbers_.resize(numbers_.size() - width_); }
    void forget() noexcept override { numbers_.clear(); }
    void collect(Index samples, std::vector<double>& numbers) override {
        const auto end = numbers_.begin() + std::ptrdiff_t(std::size_t(samples) * width_);
        numbers.assign(numbers_.begin(), end);
        numbers_.erase(numbers_.begin(), end);
    }

private:
    std::size_t width_;
    std::function<void(double*)> measure_;
    std::vector<double> numbers_;
};

/// How the cells of a block are read.
template <class S, class Real, class Stored>
struct CellAccess {
    std::function<backend::LatticeView<S, Real, Stored>()> view;
    std::function<bool(int x, int y, int z)> is_solid;
    std::function<void(int x, int y, int z, double (&force)[3])> force;
    std::function<Real(int x, int y, int z)> temperature;
};

/// Samples of the fields of some cells.
template <class S, class Real, class Stored>
std::unique_ptr<backend::StateSamples> make_host_point_samples(const std::vector<backend::Cell>& cells,
                                                               const backend::PointFields& fields,
                                                               CellAccess<S, Real, Stored> block, int threads) {
    const auto count = Index(cells.size());
    const auto measure = [cells, fields, block = std::move(block), threads, count](double* sample) {
        const backend::LatticeView<S, Real, Stored> view = block.view();
        parallel_shares(count < 512 ? 1 : threads, count, [&](Index first, Index last) {
            for (Index k = first; k < last; ++k) {
                const auto [x, y, z] = cells[std::size_t(k)];
                double force[3] = {};
                block.force(x, y, z, force);
                Real deviation = 0, u[3] = {};
                if constexpr (Stencil<S>::multispeed) {
                    const Gas<Real> gas = backend::gas_between_steps(view.cell(x, y, z), force);
                    deviation = gas.deviation;
                    u[0] = gas.u[0];
                    u[1] = gas.u[1];
                } else {
                    backend::moments_after_collision(view.cell(x, y, z), force, deviation, u);
                }
                const Real temperature = fields.temperature ? block.temperature(x, y, z) : Real(0);
                backend::put_point<S::D>(fields, k, count, block.is_solid(x, y, z), deviation, u, temperature, sample);
            }
        });
    };
    return std::make_unique<HostSamples>(std::size_t(count) * std::size_t(fields.numbers(S::D)), measure);
}

/// Samples of the force and the torque on a body, which `sum` computes of its links about the center.
template <class Sum>
std::unique_ptr<backend::StateSamples> make_host_force_samples(Sum sum, const backend::BodyLinksNow& links,
                                                               const double (&center)[3]) {
    const std::array<double, 3> about{center[0], center[1], center[2]};
    return std::make_unique<HostSamples>(6, [sum, links, about](double* sample) {
        const double center_now[3] = {about[0], about[1], about[2]};
        const backend::ForceAndTorque now = sum(links(), center_now);
        std::copy(now.force, now.force + 3, sample);
        std::copy(now.torque, now.torque + 3, sample + 3);
    });
}

}  // namespace lbm::cpu
