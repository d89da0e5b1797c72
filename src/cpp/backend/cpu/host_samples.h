// Samples of the state of a block on the CPU: of its cells, and of the force on a body.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../block_state.h"
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
template <class Real>
struct CellAccess {
    std::function<void(int x, int y, int z, Real& deviation, Real (&u)[3])> flow;  // rho - 1 and the velocity
    std::function<bool(int x, int y, int z)> is_solid;
    std::function<Real(int x, int y, int z)> temperature;
};

/// Samples of the fields of some cells.
template <int D, class Real>
std::unique_ptr<backend::StateSamples> make_host_point_samples(const std::vector<backend::Cell>& cells,
                                                               const backend::PointFields& fields,
                                                               CellAccess<Real> block, int threads) {
    const auto count = Index(cells.size());
    const auto measure = [cells, fields, block = std::move(block), threads, count](double* sample) {
        parallel_shares(count < 512 ? 1 : threads, count, [&](Index first, Index last) {
            for (Index k = first; k < last; ++k) {
                const auto [x, y, z] = cells[std::size_t(k)];
                Real deviation = 0, u[3] = {};
                block.flow(x, y, z, deviation, u);
                const Real temperature = fields.temperature ? block.temperature(x, y, z) : Real(0);
                backend::put_point<D>(fields, k, count, block.is_solid(x, y, z), deviation, u, temperature, sample);
            }
        });
    };
    return std::make_unique<HostSamples>(std::size_t(count) * std::size_t(fields.numbers(D)), measure);
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
