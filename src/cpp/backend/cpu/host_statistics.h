// The statistics of a block's cells on the CPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../../lattice/address.h"
#include "../cell_statistics.h"
#include "buffer.h"
#include "threads.h"

namespace lbm::cpu {

class HostStatistics final : public backend::CellStatistics {
public:
    /// Returns which cells are solid, null for none.
    using Solid = std::function<const std::uint8_t*()>;
    /// Writes the quantities that are needed for the slots, of the fluid cells of a row, one after the other.
    using PutRow = std::function<void(int y, int z, backend::SlotMask slots, double* values)>;

    /// Keeps a reference to the address.
    HostStatistics(const Address& address, int threads, Solid solid, PutRow put_row)
        : address_(address), threads_(threads), solid_(std::move(solid)), put_row_(std::move(put_row)) {}

    void choose(backend::SlotMask slots) override {
        slots_ &= slots;  // what is left where memory for another one cannot be had
        for (int k = 0; k < backend::statistics_slots; ++k) {
            if (!backend::has_slot(slots, k)) {
                numbers_[k] = Buffer();
            } else if (!backend::has_slot(slots_, k)) {
                numbers_[k] = Buffer(sizeof(double) * std::size_t(rows() * nx()));
                clear(k);
            }
        }
        slots_ = slots;
    }

    void reset() override {
        for (int k = 0; k < backend::statistics_slots; ++k) {
            if (backend::has_slot(slots_, k)) {
                clear(k);
            }
        }
    }

    void sample(Index count) override {
        const double weight = 1 / double(count);
        const std::uint8_t* solid = solid_();
        parallel_shares(threads_, rows(), [&](Index first, Index last) {
            std::vector<double> work(std::size_t(3 * backend::sampled_quantities * nx()));
            for (Index r = first; r < last; ++r) {
                put_row_(int(r % address_.ny), int(r / address_.ny), slots_, work.data());
                sample_row(r, solid == nullptr ? nullptr : solid + r * nx(), weight, work.data());
            }
        });
    }

    void get(int slot, double* out) const override {
        parallel_shares(threads_, rows(), [&](Index first, Index last) {
            std::copy(number(slot) + first * nx(), number(slot) + last * nx(), out + first * nx());
        });
    }
    void set(int slot, const double* values) override {
        parallel_shares(threads_, rows(), [&](Index first, Index last) {
            std::copy(values + first * nx(), values + last * nx(), number(slot) + first * nx());
        });
    }

    std::vector<Index> sums(int slot, const backend::SummedAxes& over) const override {
        const int size[3] = {address_.nx, address_.ny, address_.nz};
        Index stride[3], elements = 1;
        for (int d = 0; d < 3; ++d) {
            stride[d] = over.axis[d] ? 0 : elements;
            elements *= over.axis[d] ? 1 : size[d];
        }
        std::vector<Index> sums(std::size_t(backend::FixedPoint::words * elements));
        const std::uint8_t* solid = solid_();
        for (Index r = 0; r < rows(); ++r) {
            const Index at = r % address_.ny * stride[1] + r / address_.ny * stride[2];
            for (int x = 0; x < nx(); ++x) {
                if (solid == nullptr || solid[r * nx() + x] == 0) {
                    const backend::FixedPoint value = backend::fixed_point(number(slot)[r * nx() + x]);
                    for (int w = 0; w < backend::FixedPoint::words; ++w) {
                        sums[std::size_t(backend::FixedPoint::words * (at + x * stride[0]) + w)] += value.word[w];
                    }
                }
            }
        }
        return sums;
    }

    std::size_t bytes() const override {
        std::size_t sum = 0;
        for (const Buffer& buffer : numbers_) {
            sum += buffer.bytes();
        }
        return sum;
    }

private:
    int nx() const { return address_.nx; }
    Index rows() const { return Index(address_.ny) * address_.nz; }
    double* number(int slot) const { return numbers_[slot].as<double>(); }

    void clear(int slot) {
        parallel_shares(threads_, rows(), [&](Index first, Index last) {
            std::fill(number(slot) + first * nx(), number(slot) + last * nx(), backend::initial_number(slot));
        });
    }

    /// Does what add_sample() does, slot by slot. The values of the row are followed by their deviations from the means
    /// before the sample and after it, which this writes.
    void sample_row(Index r, const std::uint8_t* solid, double weight, double* values) {
        constexpr int quantities = backend::sampled_quantities;
        const auto for_fluid = [&](auto&& change) {
            for (int x = 0; x < nx(); ++x) {
                if (solid == nullptr || solid[x] == 0) {
                    change(x);
                }
            }
        };
        const auto row_of = [&](int slot) {
            return backend::has_slot(slots_, slot) ? number(slot) + r * nx() : nullptr;
        };
        double* before = values + quantities * nx();
        double* after = before + quantities * nx();
        for (int q = 0; q < quantities; ++q) {
            const double* value = values + q * nx();
            double *b = before + q * nx(), *a = after + q * nx();
            if (double* mean = row_of(backend::mean_slot(q))) {
                for_fluid([&](int x) {
                    b[x] = value[x] - mean[x];
                    mean[x] = backend::mean_after(mean[x], b[x], weight);
                    a[x] = value[x] - mean[x];
                });
            }
            if (double* least = row_of(backend::minimum_slot(q))) {
                for_fluid([&](int x) { least[x] = value[x] < least[x] ? value[x] : least[x]; });
            }
            if (double* most = row_of(backend::maximum_slot(q))) {
                for_fluid([&](int x) { most[x] = value[x] > most[x] ? value[x] : most[x]; });
            }
        }
        for (int p = 0; p < quantities; ++p) {
            for (int q = p; q < quantities; ++q) {
                if (double* comoment = row_of(backend::comoment_slot(p, q))) {
                    const double *b = before + p * nx(), *a = after + q * nx();
                    for_fluid([&](int x) { comoment[x] += backend::comoment_change(b[x], a[x]); });
                }
            }
        }
    }

    const Address& address_;
    int threads_;
    Solid solid_;
    PutRow put_row_;
    backend::SlotMask slots_ = 0;
    Buffer numbers_[backend::statistics_slots];
};

/// Makes the statistics of a block with D components of the velocity. `for_fluid_row(y, z, visit)` calls
/// visit(x, rho - 1, u) for the fluid cells of a row, `temperature(x, y, z)` returns that of a cell.
template <int D, class Real, class ForFluidRow, class Temperature>
std::unique_ptr<backend::CellStatistics> make_host_statistics(const Address& address, int threads,
                                                              HostStatistics::Solid solid, ForFluidRow for_fluid_row,
                                                              Temperature temperature) {
    return std::make_unique<HostStatistics>(address, threads, std::move(solid),
                                            [=, &address](int y, int z, backend::SlotMask slots, double* values) {
                                                constexpr int last = backend::sampled_quantities - 1;
                                                const int nx = address.nx;
                                                const bool needs_temperature = backend::needs_quantity(slots, last);
                                                auto visit = [&](int x, Real deviation, const Real* u) {
                                                    values[x] = double(deviation);
                                                    for (int d = 0; d < D; ++d) {
                                                        values[(1 + d) * nx + x] = double(u[d]);
                                                    }
                                                    if (needs_temperature) {
                                                        values[last * nx + x] = double(temperature(x, y, z));
                                                    }
                                                };
                                                for_fluid_row(y, z, visit);
                                            });
}

}  // namespace lbm::cpu
