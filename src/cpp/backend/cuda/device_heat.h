// The temperature of a block on a GPU: all operations other than the update kernel.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "../links.h"
#include "../row_box.h"
#include "device_sums.h"
#include "field_rows.h"
#include "field_staging.h"
#include "upload.h"

namespace lbm::cuda {

class DeviceHeat {
public:
    /// Keeps references to the arguments, which are the block's and must outlive it.
    DeviceHeat(const backend::BlockSpec& spec, const Address& address, const WorkStream& stream, KernelSet& kernels,
               const DeviceSums& sums, FieldStaging& staging)
        : spec_(spec), address_(address), stream_(stream), kernels_(kernels), sums_(sums), staging_(staging) {}

    std::size_t bytes() const {
        std::size_t sum = source_.bytes();
        for (const DeviceBuffer* buffer : {&cells_, &links_, &terms_, &new_temperatures_, &last_, &samples_}) {
            sum += buffer->bytes();
        }
        return sum;
    }

    /// The rows of the heat source field; null for a uniform source.
    void* source_field() const { return source_.as<void>(); }
    double uniform_source() const { return uniform_; }

    /// Sets the heat source. `state()` returns the block's StateArguments; it is called once the rows have been
    /// allocated.
    template <class State>
    void set_source(double uniform, const FieldSource& field, Index pitch, State&& state) {
        uniform_ = field.empty() ? uniform : 0;
        source_.set(stream_, std::size_t(rows() * pitch) * backend::size_of(spec_.precision), field,
                    [&] { staging_.write_components(state(), "set_heat_source", 1, field, header); });
    }

    /// Reads the heat source field; throws std::invalid_argument if there is none.
    void read_source(const StateArguments& state, double* out) const {
        if (source_.bytes() == 0) {
            throw std::invalid_argument("source: there is no field of it");
        }
        staging_.read_components(state, "get_heat_source", "", 1, out, header);
    }

    /// Uploads the cells next to bodies, those of the shell first.
    void set_plan(const backend::LinkPlan& plan, const backend::Interior& interior) {
        std::vector<backend::ThermalCell> cells = plan.thermal_cells;
        const auto inner = std::stable_partition(cells.begin(), cells.end(), [&](const backend::ThermalCell& cell) {
            return !interior.holds(cell.x, cell.y, cell.z);
        });
        in_shell_ = inner - cells.begin();
        count_ = Index(cells.size());
        upload(cells_, stream_, cells);
        upload(terms_, stream_, plan.thermal_terms);
        new_temperatures_ = DeviceBuffer(stream_.ordinal(), std::size_t(count_) * backend::size_of(spec_.precision));
        set_values(plan);
    }
    void set_values(const backend::LinkPlan& plan) {
        upload(links_, stream_, plan.thermal_links);
        forget_samples();
    }
    /// Forgets what heat through walls is computed of, as the plan has changed.
    void forget_samples() { uploaded_ = nullptr; }
    /// The links to bodies, whose values a kernel may set.
    backend::ThermalLink* links() const { return links_.as<backend::ThermalLink>(); }

    void expect_kernels() const {
        if (count_ > 0) {
            kernels_.expect(kernel("advance_next_to_bodies"));
            kernels_.expect(kernel("put_next_to_bodies"));
        }
    }
    /// Computes the temperatures of cells next to bodies after the next step, before the update and after boundaries
    /// and halos have been applied.
    void advance_next_to_bodies(const StateArguments& state, bool programmatic_launch) const {
        if (count_ > 0) {
            LaunchDimensions dimensions = flat(count_);
            dimensions.programmatic_launch = programmatic_launch;
            kernels_.get(kernel("advance_next_to_bodies"))
                .launch(stream_, dimensions,
                        NextToBodiesArguments{state, cells_.as<backend::ThermalCell>(), count_,
                                              links_.as<backend::ThermalLink>(), terms_.as<backend::ThermalTerm>(),
                                              new_temperatures_.as<void>()});
        }
    }
    /// Stores these temperatures after the update of the shell, or of the interior.
    void put_next_to_bodies(const WorkStream& stream, const StateArguments& state, bool of_interior,
                            bool programmatic_launch) const {
        const Index first = of_interior ? in_shell_ : 0, count = (of_interior ? count_ : in_shell_) - first;
        if (count > 0) {
            LaunchDimensions dimensions = flat(count);
            dimensions.programmatic_launch = programmatic_launch;
            char* values = new_temperatures_.as<char>() + std::size_t(first) * backend::size_of(spec_.precision);
            kernels_.get(kernel("put_next_to_bodies"))
                .launch(stream, dimensions,
                        NextToBodiesArguments{state, cells_.as<backend::ThermalCell>() + first, count,
                                              links_.as<backend::ThermalLink>(), terms_.as<backend::ThermalTerm>(),
                                              values});
        }
    }

    template <class Out>
    void read(const StateArguments& state, Out* out) const {
        staging_.read_fields(state, "temperature", 1, out, header, 0.0);
    }
    void set(const StateArguments& state, const double* values) const {
        if (values != nullptr) {
            staging_.write_components(state, "set_temperature", 1, values, header);
        } else {
            kernels_.get(kernel("reset_temperature")).launch(stream_, flat(cells()), state, RowRange{0, rows()});
            stream_.synchronize();
        }
    }

    double total(const StateArguments& state) const {
        return sum_of(sums_.partial_sums<1>(header, "total_heat", cells(), state, RowRange{0, rows()}));
    }
    double sampled(const StateArguments& state, const std::vector<backend::HeatSample>& samples, double* each) {
        const auto count = Index(samples.size());
        if (count == 0) {
            return 0;
        }
        if (uploaded_ != &samples) {
            upload(samples_, stream_, samples);
            uploaded_ = &samples;
        }
        const DeviceBuffer all(stream_.ordinal(), each == nullptr ? 0 : samples.size() * sizeof(double));
        const double sum = sum_of(sums_.partial_sums<1>(header, "sampled_heat", count, state,
                                                        samples_.as<backend::HeatSample>(), count, all.as<double>()));
        if (each != nullptr) {
            stream_.copy_to_host(each, all.address(), all.bytes());
            stream_.synchronize();
        }
        return sum;
    }
    double change(const StateArguments& state) {
        const bool first_call = last_.bytes() == 0;
        if (first_call) {
            last_ = DeviceBuffer(stream_.ordinal(), backend::size_of(spec_.precision) * std::size_t(cells()));
            stream_.clear(last_.address(), last_.bytes());
        }
        const auto parts =
            sums_.partial_sums<1>(header, "temperature_change", cells(), state, RowRange{0, rows()}, last_.as<void>());
        return first_call ? std::numeric_limits<double>::infinity() : *std::max_element(parts.begin(), parts.end());
    }

private:
    static constexpr const char* header = "heat.h";

    KernelName kernel(const char* function) const { return state_kernel(spec_, header, function); }
    Index rows() const { return Index(address_.ny) * address_.nz; }
    Index cells() const { return rows() * address_.nx; }
    static double sum_of(const std::vector<double>& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }

    const backend::BlockSpec& spec_;
    const Address& address_;
    const WorkStream& stream_;
    KernelSet& kernels_;
    const DeviceSums& sums_;
    FieldStaging& staging_;
    double uniform_ = 0;
    FieldRows source_;
    DeviceBuffer cells_, links_, terms_, new_temperatures_, last_, samples_;
    const void* uploaded_ = nullptr;
    Index count_ = 0, in_shell_ = 0;
};

}  // namespace lbm::cuda
