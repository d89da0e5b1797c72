// Measurement of launch shapes, and the file of the best: a line for each kind of block.
#include "tuning.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "../block_layout.h"
#include "kernel_cache.h"
#include "kernel_names.h"
#include "recorded_steps.h"
#include "update_arguments.h"

namespace lbm::cuda {
namespace {

using backend::BlockSpec;

/// What the best shape depends on.
std::string key_of(const BlockSpec& spec, Phase phase, Forcing forcing, const std::string& gpu) {
    const double cells = double(spec.size[0]) * spec.size[1] * spec.size[2];
    return gpu + "; " + update_kernel(spec, {}, phase, forcing).name + "; " + std::to_string(spec.size[0]) + " wide, " +
           (cells < 4e6 ? "few" : "many");
}

std::string shapes_file() { return cache_folder() + "/update_shapes.txt"; }

std::map<std::string, UpdateShape> read_shapes() {
    std::map<std::string, UpdateShape> shapes;
    std::ifstream file(shapes_file());
    std::string line;
    while (std::getline(file, line)) {
        const std::size_t tab = line.find('\t');
        UpdateShape shape{};
        if (tab != std::string::npos &&
            std::sscanf(line.c_str() + tab, "%d %d %d", &shape.lanes, &shape.threads, &shape.blocks) == 3) {
            shapes[line.substr(0, tab)] = shape;
        }
    }
    return shapes;
}

void keep_shapes(const std::map<std::string, UpdateShape>& best) {
    std::map<std::string, UpdateShape> all = read_shapes();
    for (const auto& [key, shape] : best) {
        all[key] = shape;
    }
    std::string text;
    for (const auto& [key, shape] : all) {
        text += key + '\t' + std::to_string(shape.lanes) + ' ' + std::to_string(shape.threads) + ' ' +
                std::to_string(shape.blocks) + '\n';
    }
    if (!cache_folder().empty()) {
        write_whole(shapes_file(), text);
    }
}

/// Small deviations from rest without a pattern: a memory's power depends on what it moves.
DeviceBuffer noise(const BlockSpec& spec, int ordinal, const WorkStream& stream, std::size_t bytes) {
    const std::size_t size = backend::size_of(spec.storage);
    std::vector<char> piece(std::min<std::size_t>(bytes, std::size_t(32) << 20));
    UInt64 seed = 1;
    for (std::size_t at = 0; at + size <= piece.size(); at += size) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        const double value = (double(seed >> 40) / double(1 << 24) - 0.5) * 0.01;
        const auto put = [&](auto stored) { std::copy_n(reinterpret_cast<char*>(&stored), size, &piece[at]); };
        switch (spec.storage) {
            case backend::NumberKind::Float16: put(Store<Half>::from(float(value))); break;
            case backend::NumberKind::Float32: put(float(value)); break;
            default: put(value); break;
        }
    }
    DeviceBuffer buffer(ordinal, bytes);
    for (std::size_t at = 0; at < bytes; at += piece.size()) {
        stream.copy_to_device(buffer.address() + at, piece.data(), std::min(piece.size(), bytes - at));
    }
    stream.synchronize();
    return buffer;
}

/// Compiles on all cores.
std::vector<KernelImage> compile_all(const std::vector<KernelName>& names, const std::string& architecture) {
    std::vector<KernelImage> images(names.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t k = next++; k < names.size(); k = next++) {
            try {
                images[k] = compile(names[k], architecture);
            } catch (const CudaError&) {
                images[k] = {};  // such as more registers than there are: no candidate
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned k = 0; k < std::max(1U, std::thread::hardware_concurrency()); ++k) {
        threads.emplace_back(work);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return images;
}

template <class Launch>
double time_of(const WorkStream& stream, int ordinal, double seconds, Launch&& launch) {
    using Clock = std::chrono::steady_clock;
    RecordedSteps recorded(ordinal);
    const auto run = [&](Index steps) {
        const auto start = Clock::now();
        recorded.replay(stream, steps, launch);
        stream.synchronize();
        return std::chrono::duration<double>(Clock::now() - start).count() / double(steps);
    };
    const double trial = run(32);
    return run(std::max<Index>(1, Index(seconds / trial / 16)) * 16);
}

template <class Real>
std::vector<ShapeTiming> tune_as(const BlockSpec& spec, Forcing forcing, int ordinal, double seconds) {
    const DeviceInfo device = device_info(ordinal);
    const WorkStream stream(ordinal);
    const Address address = backend::block_address(spec, backend::Device::Gpu);
    const std::size_t bytes = backend::block_bytes(spec, backend::Device::Gpu) / (spec.in_place ? 1 : 2);
    const DeviceBuffer source = noise(spec, ordinal, stream, bytes);
    const DeviceBuffer other = spec.in_place ? DeviceBuffer() : noise(spec, ordinal, stream, bytes);
    const std::vector<UpdateShape> shapes = possible_shapes(spec);

    std::vector<ShapeTiming> timings;
    std::map<std::string, UpdateShape> best;
    for (const Phase phase : backend::phases_of(spec)) {
        std::vector<KernelName> names;
        for (const UpdateShape& shape : shapes) {
            names.push_back(update_kernel(spec, shape, phase, forcing));
        }
        const std::vector<KernelImage> images = compile_all(names, device.architecture());
        auto arguments = update_arguments<Real>(spec, address, phase);
        arguments.source = source.as<void>();
        arguments.target = spec.in_place ? source.as<void>() : other.as<void>();
        double fastest = 0;
        for (std::size_t k = 0; k < shapes.size(); ++k) {
            if (images[k].code.empty()) {
                continue;
            }
            const Kernel kernel(ordinal, images[k]);
            ShapeTiming timing{phase, shapes[k], 0, kernel.registers(), kernel.local_bytes()};
            if (timing.local_bytes <= 64) {
                const LaunchShape launch = update_launch(spec, shapes[k]);
                timing.seconds = time_of(stream, ordinal, seconds, [&] { kernel.launch(stream, launch, arguments); });
                if (fastest == 0 || timing.seconds < fastest) {
                    fastest = timing.seconds;
                    best[key_of(spec, phase, forcing, device.name)] = shapes[k];
                }
            }
            timings.push_back(timing);
        }
    }
    keep_shapes(best);
    return timings;
}

}  // namespace

std::vector<ShapeTiming> tune(const BlockSpec& spec, Forcing forcing, int ordinal, double seconds) {
    return spec.precision == backend::NumberKind::Float64 ? tune_as<double>(spec, forcing, ordinal, seconds)
                                                          : tune_as<float>(spec, forcing, ordinal, seconds);
}

UpdateShape chosen_shape(const BlockSpec& spec, Phase phase, Forcing forcing, const std::string& gpu) {
    UpdateShape shape = usual_shape(spec, phase, forcing);
    const auto remembered = read_shapes();
    if (const auto found = remembered.find(key_of(spec, phase, forcing, gpu)); found != remembered.end()) {
        shape = found->second;
    }
    if (const char* given = std::getenv("LBMGPU_UPDATE_SHAPE")) {
        std::sscanf(given, "%d,%d,%d", &shape.lanes, &shape.threads, &shape.blocks);
    }
    return shape;
}

}  // namespace lbm::cuda
