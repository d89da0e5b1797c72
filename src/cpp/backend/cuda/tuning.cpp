// Measures launch configurations, and reads and writes the results in the kernel cache.
#include "tuning.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "../block_layout.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "recorded_steps.h"
#include "update_arguments.h"

namespace lbm::cuda {
namespace {

using backend::BlockSpec;

constexpr int most_local_bytes = 64;  // a kernel that spills more is not measured

/// The key of a result: everything on which the best launch configuration depends.
std::string key_of(const BlockSpec& spec, const UpdateKind& kind, const std::string& gpu) {
    return "shape of " + update_kernel(spec, {1, 32, 1}, kind).name + " on " + gpu + " for " +
           std::to_string(spec.size[0]) + " cells a row, size " + std::to_string(int(block_size(spec))) + ", " +
           code_version();
}

std::optional<LaunchConfiguration> remembered_configuration(const BlockSpec& spec, const std::string& key) {
    const std::optional<KernelImage> kept = run_time::KernelCache(run_time::cache_folder()).find(key);
    LaunchConfiguration configuration{};
    if (!kept ||
        std::sscanf(kept->code.c_str(), "%d %d %d", &configuration.cells_per_thread, &configuration.threads,
                    &configuration.blocks) != 3 ||
        !is_possible(spec, configuration)) {
        return std::nullopt;
    }
    return configuration;
}

/// Stores a result in the kernel cache, as if it were a kernel.
void remember_configuration(const std::string& key, const LaunchConfiguration& configuration) {
    const std::string text = std::to_string(configuration.cells_per_thread) + ' ' +
                             std::to_string(configuration.threads) + ' ' + std::to_string(configuration.blocks);
    run_time::KernelCache(run_time::cache_folder()).keep(key, {text, "shape"});
}

/// A lattice of small random deviations from rest, because the power that memory draws depends on the data.
DeviceBuffer noise(const BlockSpec& spec, int ordinal, const WorkStream& stream, std::size_t bytes) {
    const std::size_t size = backend::size_of(spec.storage);
    std::vector<char> piece(std::min<std::size_t>(bytes, std::size_t(32) << 20));
    UInt64 seed = 1;
    for (std::size_t at = 0; at + size <= piece.size(); at += size) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        const double value = (double(seed >> 40) / double(1 << 24) - 0.5) * 0.01;
        const auto put = [&](auto stored) { std::copy_n(reinterpret_cast<char*>(&stored), size, &piece[at]); };
        backend::with_numbers(spec.precision, spec.storage, [&](auto numbers) {
            using N = decltype(numbers);
            put(Store<typename N::Stored>::from(typename N::Real(value)));
        });
    }
    DeviceBuffer buffer(ordinal, bytes);
    for (std::size_t at = 0; at < bytes; at += piece.size()) {
        stream.copy_to_device(buffer.address() + at, piece.data(), std::min(piece.size(), bytes - at));
    }
    stream.synchronize();
    return buffer;
}

template <class Launch>
double time_of(const WorkStream& stream, double seconds, Launch&& launch) {
    using Clock = std::chrono::steady_clock;
    constexpr Index length = 16;  // launches per recorded graph
    const auto launch_all = [&] {
        for (Index k = 0; k < length; ++k) {
            launch();
        }
    };
    launch_all();
    RecordedWork recorded(stream);
    recorded.record(launch_all);
    const auto run = [&](Index times) {
        const auto start = Clock::now();
        recorded.replay(times);
        stream.synchronize();
        return std::chrono::duration<double>(Clock::now() - start).count() / double(times * length);
    };
    run(1);
    const double trial = run(2);
    return run(std::max<Index>(1, Index(seconds / trial / length)));
}

/// The kinds of update that are measured one by one: of each phase, and of those that renew what is taken of velocity
/// gradients or do not, the ones that a block makes.
std::vector<UpdateKind> kinds_of(const BlockSpec& spec, const UpdateKind& asked) {
    std::vector<UpdateKind> kinds;
    for (const Phase phase : backend::phases_of(spec)) {
        const auto add = [&](bool keeps, bool renews) {
            kinds.push_back({phase, asked.forcing, asked.end_sums, keeps, renews});
        };
        if (!backend::keeps_velocity(spec) || spec.refresh_every > 1) {
            add(false, false);
        }
        if (backend::keeps_velocity(spec)) {
            add(spec.refresh_every == 1, true);
        }
    }
    return kinds;
}

template <class Real>
std::vector<ConfigurationTiming> tune_as(const BlockSpec& spec, const UpdateKind& asked, int ordinal, double seconds) {
    const DeviceInfo device = device_info(ordinal);
    const WorkStream stream(ordinal);
    const Address address = backend::block_address(spec, backend::Device::Gpu);
    const std::size_t bytes = backend::lattice_bytes(spec, backend::Device::Gpu);
    const DeviceBuffer source = noise(spec, ordinal, stream, bytes);
    const bool has_other = spec.state->lattices > 1;
    const DeviceBuffer other = has_other ? noise(spec, ordinal, stream, bytes) : DeviceBuffer();

    const int D = backend::with_stencil(spec.stencil, [](auto s) { return decltype(s)::D; });
    const Index sums = asked.end_sums ? backend::EndSums<Real>::count(address, D) : 0;
    const DeviceBuffer end_sums(ordinal, std::size_t(sums) * sizeof(Real));

    // What is taken of velocity gradients is 0: the time of an update does not depend on it.
    const Index terms = Index(address.ny) * address.nz * backend::gradient_terms(spec);
    const DeviceBuffer gradient_terms(ordinal, std::size_t(terms * backend::field_pitch(address.nx)) * sizeof(Real));
    if (gradient_terms.bytes() > 0) {
        stream.clear(gradient_terms.address(), gradient_terms.bytes());
    }

    std::vector<ConfigurationTiming> timings;
    for (const UpdateKind& kind : kinds_of(spec, asked)) {
        const Phase phase = kind.phase;
        const std::size_t first = timings.size();
        const std::vector<LaunchConfiguration> configurations = candidate_configurations(spec);
        KernelSet kernels(ordinal, device.architecture());
        const std::size_t ahead = std::max(1U, std::thread::hardware_concurrency());
        for (std::size_t k = 0; k < configurations.size() + ahead; ++k) {  // compile all before any is measured
            if (k < configurations.size()) {
                kernels.expect(update_kernel(spec, configurations[k], kind));
            }
            if (k >= ahead) {
                kernels.get(update_kernel(spec, configurations[k - ahead], kind));
            }
        }
        for (const LaunchConfiguration& configuration : configurations) {
            const Kernel& kernel = kernels.get(update_kernel(spec, configuration, kind));
            ConfigurationTiming timing{
                phase, kind.renews_terms, configuration, 0, kernel.registers(), kernel.local_bytes(), false};
            if (timing.local_bytes <= most_local_bytes) {
                with_update_arguments<Real>(spec, address, phase, [&](auto& arguments) {
                    if constexpr (requires { arguments.end_sums; }) {
                        arguments.end_sums = {end_sums.as<Real>()};
                    }
                    if constexpr (requires { arguments.parameters.gradient_terms; }) {
                        arguments.parameters.gradient_terms = gradient_terms.as<Real>();
                    }
                    set_rows(arguments, spec, {0, 0, address.ny, address.nz}, device.l2_bytes);
                    arguments.source = source.as<void>();
                    arguments.target = (has_other ? other : source).as<void>();
                    const LaunchDimensions launch = update_launch(spec, configuration, arguments.rows.count());
                    timing.seconds = time_of(stream, seconds, [&] { kernel.launch(stream, launch, arguments); });
                });
            }
            timings.push_back(timing);
        }
        const auto time = [](const ConfigurationTiming& timing) {
            return timing.seconds > 0 ? timing.seconds : std::numeric_limits<double>::infinity();
        };
        const auto best = std::min_element(timings.begin() + std::ptrdiff_t(first), timings.end(),
                                           [&](const auto& a, const auto& b) { return time(a) < time(b); });
        if (best != timings.end() && best->seconds > 0) {
            best->best = true;
            remember_configuration(key_of(spec, kind, device.name), best->configuration);
        }
    }
    return timings;
}

}  // namespace

std::vector<ConfigurationTiming> tune(const BlockSpec& spec, const UpdateKind& kind, int ordinal, double seconds) {
    if (!(seconds > 0 && seconds < 3600)) {
        throw std::invalid_argument("seconds: " + std::to_string(seconds) + " given, must be above 0 and below 3600");
    }
    return backend::with_real(spec.precision,
                              [&](auto real) { return tune_as<decltype(real)>(spec, kind, ordinal, seconds); });
}

LaunchConfiguration chosen_configuration(const BlockSpec& spec, const UpdateKind& kind, const std::string& gpu) {
    if (const char* given = std::getenv("LBMGPU_UPDATE_SHAPE")) {
        LaunchConfiguration configuration{};
        if (std::sscanf(given, "%d,%d,%d", &configuration.cells_per_thread, &configuration.threads,
                        &configuration.blocks) != 3 ||
            !is_possible(spec, configuration)) {
            throw std::invalid_argument(std::string("LBMGPU_UPDATE_SHAPE: '") + given +
                                        "' given, must be cells a thread (1, 2, 4 or 8; 16 bytes at most), threads a "
                                        "block (a multiple of 32 up "
                                        "to 1024) and blocks (1 to 32), as in 2,128,4");
        }
        return configuration;
    }
    return remembered_configuration(spec, key_of(spec, kind, gpu)).value_or(default_configuration(spec, kind));
}

}  // namespace lbm::cuda
