// Packs the arguments of several blocks into those of one launch.
#include "launch_batch.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

namespace lbm::cuda {
namespace {

/// The size of a kernel's parameters: 32764 bytes from Volta and CUDA 12.1 on, else 4096.
std::size_t most_parameter_bytes(const std::string& architecture) {
    const CompilerInfo compiler = compiler_info();
    const bool large = driver_version() >= 12010 && 1000 * compiler.major + 10 * compiler.minor >= 12010 &&
                       std::stoi(architecture.substr(architecture.find('_') + 1)) >= 70;
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

LaunchBatch::LaunchBatch(int ordinal, const std::string& architecture, StepStreams& first,
                         std::vector<StepStreams*> others)
    : first_(first),
      others_(std::move(others)),
      kernels_(ordinal, architecture),
      parameter_bytes_(most_parameter_bytes(architecture)) {}

void LaunchBatch::begin() { follow(first_, others_); }

void LaunchBatch::end() { lead(first_, others_); }

void LaunchBatch::run(const std::vector<std::function<void()>>& work) {
    collected_.assign(work.size(), {});
    for (current_ = 0; current_ < work.size(); ++current_) {
        const StepStreams& own = current_ == 0 ? first_ : *others_[current_ - 1];
        const Collection collection(own.main(), *this);
        work[current_]();
    }
    const std::vector<Launches> all = groups();
    for (const Launches& group : all) {  // compiled side by side
        if (members_a_launch(group) > 1) {
            kernels_.expect(name_of(group));
        }
    }
    for (const Launches& group : all) {
        launch(group);
    }
}

bool LaunchBatch::Launch::goes_with(const Launch& other) const {
    const KernelOrder before;
    LaunchDimensions same = other.dimensions;
    same.blocks = dimensions.blocks;
    return dimensions == same && !before(kernel->name(), other.kernel->name()) &&
           !before(other.kernel->name(), kernel->name());
}

std::vector<LaunchBatch::Launches> LaunchBatch::groups() const {
    std::vector<Launches> all;
    std::size_t longest = 0;
    for (const std::vector<Launch>& own : collected_) {
        longest = std::max(longest, own.size());
    }
    for (std::size_t at = 0; at < longest; ++at) {
        const auto first = std::ptrdiff_t(all.size());  // of the groups of this turn
        for (const std::vector<Launch>& own : collected_) {
            if (at < own.size()) {
                const auto found = std::find_if(all.begin() + first, all.end(), [&](const Launches& group) {
                    return group.front()->goes_with(own[at]);
                });
                if (found == all.end()) {
                    all.push_back({&own[at]});
                } else {
                    found->push_back(&own[at]);
                }
            }
        }
    }
    return all;
}

void LaunchBatch::add(const Kernel& kernel, const LaunchDimensions& dimensions,
                      const std::vector<KernelArgument>& arguments) {
    if (arguments.size() != 1) {
        throw std::logic_error("kernel " + kernel.name().name + " cannot be launched for several blocks");
    }
    collected_[current_].push_back({&kernel, dimensions, {arguments[0].begin(), arguments[0].end()}});
}

std::size_t LaunchBatch::members_a_launch(const Launches& group) const {
    const std::size_t room = std::max<std::size_t>(1, parameter_bytes_ / group.front()->arguments.size());
    return std::min(std::bit_ceil(group.size()), room);
}

KernelName LaunchBatch::name_of(const Launches& group) const {
    KernelName name = group.front()->kernel->name();
    name.name.back() = ',';  // the number of members is the last argument of the template
    name.name += " " + std::to_string(members_a_launch(group)) + ">";
    return name;
}

void LaunchBatch::launch(const Launches& group) {
    const std::size_t most = members_a_launch(group), bytes = group.front()->arguments.size();
    const Kernel& kernel = most > 1 ? kernels_.get(name_of(group)) : *group.front()->kernel;
    for (std::size_t begin = 0; begin < group.size(); begin += most) {
        std::vector<std::byte> all(most * bytes);  // what no block uses stays zero
        LaunchDimensions dimensions = group[begin]->dimensions;
        dimensions.members = unsigned(std::min(most, group.size() - begin));
        for (std::size_t k = 0; k < dimensions.members; ++k) {
            const Launch& own = *group[begin + k];
            dimensions.blocks = std::max(dimensions.blocks, own.dimensions.blocks);
            std::copy(own.arguments.begin(), own.arguments.end(), all.begin() + std::ptrdiff_t(k * bytes));
        }
        kernel.launch_with(first_.main(), dimensions, {all});
    }
}

}  // namespace lbm::cuda
