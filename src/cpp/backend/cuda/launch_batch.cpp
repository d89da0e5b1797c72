// Packs the arguments of several blocks into those of one launch.
#include "launch_batch.h"

#include <algorithm>
#include <stdexcept>

#include "../remote_block.h"

namespace lbm::cuda {
namespace {

constexpr int end_slot = backend::EventSource::end_slot;

/// The size of a kernel's parameters: 32764 bytes from CUDA 12.1 on, 4096 before.
std::size_t most_parameter_bytes() {
    const CompilerInfo compiler = compiler_info();
    const bool large = driver_version() >= 12010 && 1000 * compiler.major + 10 * compiler.minor >= 12010;
    return large ? 32764 : 4096;
}

/// While it lives, a stream's launches are collected.
class Collection {
public:
    Collection(const WorkStream& stream, LaunchBatch& batch) : stream_(stream) { stream_.collect_into(&batch); }
    ~Collection() { stream_.collect_into(nullptr); }
    Collection(const Collection&) = delete;
    Collection& operator=(const Collection&) = delete;

private:
    const WorkStream& stream_;
};

}  // namespace

LaunchBatch::LaunchBatch(int ordinal, const std::string& architecture, std::vector<StepStreams*> streams)
    : streams_(std::move(streams)), kernels_(ordinal, architecture), parameter_bytes_(most_parameter_bytes()) {}

void LaunchBatch::begin() {
    for (std::size_t k = 1; k < streams_.size(); ++k) {
        streams_[k]->record_event(end_slot);
        streams_.front()->all_after(*streams_[k]->events()[std::size_t(end_slot)]);
    }
}

void LaunchBatch::end() {
    streams_.front()->record_event(end_slot);
    for (std::size_t k = 1; k < streams_.size(); ++k) {
        streams_[k]->all_after(*streams_.front()->events()[std::size_t(end_slot)]);
    }
}

void LaunchBatch::run(const std::vector<std::function<void()>>& work) {
    collected_.assign(work.size(), {});
    for (current_ = 0; current_ < work.size(); ++current_) {
        const Collection collection(streams_[current_]->main(), *this);
        work[current_]();
    }
    std::size_t longest = 0;
    for (const std::vector<Launch>& own : collected_) {
        longest = std::max(longest, own.size());
    }
    for (std::size_t at = 0; at < longest; ++at) {
        std::vector<std::vector<const Launch*>> together;
        for (const std::vector<Launch>& own : collected_) {
            if (at < own.size()) {
                const auto same = std::find_if(together.begin(), together.end(), [&](const auto& launches) {
                    return launches.front()->goes_with(own[at]);
                });
                if (same == together.end()) {
                    together.push_back({&own[at]});
                } else {
                    same->push_back(&own[at]);
                }
            }
        }
        for (const std::vector<const Launch*>& launches : together) {
            launch(launches);
        }
    }
}

void LaunchBatch::add(const Kernel& kernel, const LaunchDimensions& dimensions,
                      const std::vector<KernelArgument>& arguments) {
    if (arguments.size() != 1) {
        throw std::logic_error("kernel " + kernel.name().name + " cannot be launched for several blocks");
    }
    collected_[current_].push_back({&kernel, dimensions, {arguments[0].begin(), arguments[0].end()}});
}

std::size_t LaunchBatch::members_a_launch(const Launch& launch) const {
    return std::max<std::size_t>(1, parameter_bytes_ / launch.arguments.size());
}

void LaunchBatch::launch(const std::vector<const Launch*>& launches) {
    const Launch& first = *launches.front();
    const WorkStream& stream = streams_.front()->main();
    const std::size_t most = std::min(launches.size(), members_a_launch(first));
    KernelName name = first.kernel->name();
    if (most > 1) {
        name.name.back() = ',';
        name.name += " " + std::to_string(most) + ">";
    }
    const Kernel& kernel = most > 1 ? kernels_.get(name) : *first.kernel;
    for (std::size_t begin = 0; begin < launches.size(); begin += most) {
        std::vector<std::byte> all(most * first.arguments.size());  // what no block uses stays zero
        LaunchDimensions dimensions = first.dimensions;
        dimensions.members = unsigned(std::min(most, launches.size() - begin));
        for (std::size_t k = 0; k < dimensions.members; ++k) {
            std::copy(launches[begin + k]->arguments.begin(), launches[begin + k]->arguments.end(),
                      all.begin() + std::ptrdiff_t(k * first.arguments.size()));
        }
        kernel.launch_with(stream, dimensions, {all});
    }
}

}  // namespace lbm::cuda
