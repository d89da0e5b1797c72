// The statistics of a block's cells on a GPU.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../block_state.h"
#include "device.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

class DeviceStatistics final : public backend::CellStatistics {
public:
    /// Keeps references to the arguments, which are the block's and must outlive it; `state` returns its arguments.
    DeviceStatistics(const backend::BlockSpec& spec, const Address& address, const WorkStream& stream,
                     KernelSet& kernels, std::function<StateArguments()> state)
        : spec_(spec), address_(address), stream_(stream), kernels_(kernels), state_(std::move(state)) {}

    void choose(backend::SlotMask slots) override {
        slots_ &= slots;  // what is left where memory for another one cannot be had
        for (int k = 0; k < backend::statistics_slots; ++k) {
            if (!backend::has_slot(slots, k)) {
                numbers_[k] = DeviceBuffer();
            } else if (!backend::has_slot(slots_, k)) {
                numbers_[k] = DeviceBuffer(stream_.ordinal(), sizeof(double) * std::size_t(cells()));
                clear(k);
            }
        }
        slots_ = slots;
        if (slots != 0) {
            kernels_.expect(sampling());
        }
        stream_.synchronize();
    }

    void reset() override {
        for (int k = 0; k < backend::statistics_slots; ++k) {
            if (backend::has_slot(slots_, k)) {
                clear(k);
            }
        }
    }

    void sample(Index count) override {
        if (slots_ == 0) {
            return;
        }
        StatisticsArguments arguments{state_(), {}, 1 / double(count)};
        for (int k = 0; k < backend::statistics_slots; ++k) {
            arguments.numbers[k] = numbers_[k].as<double>();
        }
        kernels_.get(sampling()).launch(stream_, flat(cells()), arguments);
    }

    void get(int slot, double* out) const override {
        stream_.copy_to_host(out, numbers_[slot].address(), numbers_[slot].bytes());
        stream_.synchronize();
    }
    void set(int slot, const double* values) override {
        stream_.copy_to_device(numbers_[slot].address(), values, numbers_[slot].bytes());
        stream_.synchronize();
    }

    std::vector<Index> sums(int slot, const backend::SummedAxes& over) const override {
        const int size[3] = {address_.nx, address_.ny, address_.nz};
        int axes = 0;
        Index elements = 1;
        for (int d = 0; d < 3; ++d) {
            axes += over.axis[d] ? 1 << d : 0;
            elements *= over.axis[d] ? 1 : size[d];
        }
        std::vector<Index> sums(std::size_t(backend::FixedPoint::words * elements));
        const DeviceBuffer buffer(stream_.ordinal(), sums.size() * sizeof(Index));
        stream_.clear(buffer.address(), buffer.bytes());
        const Index rows = Index(address_.ny) * address_.nz;
        const LaunchDimensions dimensions{unsigned(std::min<Index>(rows, most_thread_blocks)), 256, 1};
        kernels_.get({header, "lbm::cuda::sum_statistics<" + std::to_string(axes) + ">"})
            .launch(stream_, dimensions, static_cast<const double*>(numbers_[slot].as<double>()), state_().solid,
                    size[0], size[1], size[2], buffer.as<unsigned long long>());
        stream_.copy_to_host(sums.data(), buffer.address(), buffer.bytes());
        stream_.synchronize();
        return sums;
    }

    std::size_t bytes() const override {
        std::size_t sum = 0;
        for (const DeviceBuffer& buffer : numbers_) {
            sum += buffer.bytes();
        }
        return sum;
    }

private:
    static constexpr const char* header = "statistics.h";
    static constexpr Index most_thread_blocks = 1 << 16;

    Index cells() const { return Index(address_.nx) * address_.ny * address_.nz; }
    KernelName sampling() const { return state_kernel(spec_, header, "sample_cells", std::to_string(slots_) + "U"); }
    void clear(int slot) const {
        kernels_.get({header, "lbm::cuda::fill_numbers<double>"})
            .launch(stream_, flat(cells()), numbers_[slot].as<double>(), cells(), backend::initial_number(slot));
    }

    const backend::BlockSpec& spec_;
    const Address& address_;
    const WorkStream& stream_;
    KernelSet& kernels_;
    std::function<StateArguments()> state_;
    backend::SlotMask slots_ = 0;
    DeviceBuffer numbers_[backend::statistics_slots];
};

}  // namespace lbm::cuda
