// Parses device names and forwards to the backend of the device.
#include "devices.h"

#include <algorithm>
#include <stdexcept>

#include "block_layout.h"
#include "cpu/cpu_block.h"
#include "cpu/custom_library.h"
#include "cpu/kernels.h"
#include "cpu/moment_block.h"
#include "cpu/thread_team.h"
#include "cuda/cuda_block.h"
#include "cuda/custom_parameters.h"
#include "cuda/device.h"
#include "cuda/gpu_arrays.h"
#include "cuda/mesh_lines.h"
#include "cuda/moment_block.h"
#include "cuda/shared_block.h"
#include "moment_kind.h"
#include "propagation_time.h"
#include "surface_lines.h"

namespace lbm::backend {

int gpu_number(const std::string& device) {
    if (device == "cpu") {
        return -1;
    }
    const std::string start = "cuda:";
    const std::string digits = device.rfind(start, 0) == 0 ? device.substr(start.size()) : "";
    if (digits.empty() || digits.size() > 4 || digits.find_first_not_of("0123456789") != std::string::npos) {
        throw std::invalid_argument("device: '" + device + "' given, must be 'cpu', or 'cuda:0' and so on");
    }
    return std::stoi(digits);
}

DeviceOptions checked(DeviceOptions options) {
    gpu_number(options.name);
    if (options.threads < 0 || options.threads > cpu::max_threads) {
        throw std::invalid_argument("threads: " + std::to_string(options.threads) +
                                    " given, must be 0, which means all, to " + std::to_string(cpu::max_threads));
    }
    if (options.threads == 0) {
        options.threads = cpu::default_threads();
    }
    const std::vector<std::string> usable = cpu::usable_isas();
    if (options.isa.empty()) {
        options.isa = usable.front();
    }
    if (std::find(usable.begin(), usable.end(), options.isa) == usable.end()) {
        throw std::invalid_argument("isa: this build or processor does not run '" + options.isa + "'");
    }
    return options;
}

Address block_address(const BlockSpec& spec, const std::string& device) {
    return block_address(spec, gpu_number(device) < 0 ? Device::Cpu : Device::Gpu);
}

EndColumns end_columns(const BlockSpec& spec, const std::string& device) {
    return end_columns(spec, gpu_number(device) < 0 ? Device::Cpu : Device::Gpu);
}

VelocityRows velocity_rows(const BlockSpec& spec, const std::string& device) {
    return velocity_rows(spec, gpu_number(device) < 0 ? Device::Cpu : Device::Gpu);
}

int trim_unit(const BlockSpec& spec, const std::string& device) {
    return trim_unit(spec, gpu_number(device) < 0 ? Device::Cpu : Device::Gpu);
}

bool can_access(const std::string& device, const std::string& other) {
    const int own = gpu_number(device), peer = gpu_number(other);
    return own == peer || (own >= 0 && peer >= 0 && cuda::enable_peer_access(own, peer));
}

std::shared_ptr<void> common_memory(const std::vector<std::string>& devices, std::size_t bytes) {
    const auto on_gpu =
        std::find_if(devices.begin(), devices.end(), [](const std::string& name) { return gpu_number(name) >= 0; });
    if (on_gpu != devices.end()) {
        return cuda::pinned_memory(gpu_number(*on_gpu), bytes);
    }
    return {new std::byte[bytes], [](void* memory) { delete[] static_cast<std::byte*>(memory); }};
}

std::shared_ptr<void> device_memory(const std::string& device, std::size_t bytes) {
    const int gpu = gpu_number(device);
    if (gpu < 0) {
        return common_memory({device}, bytes);
    }
    const auto memory = std::make_shared<cuda::DeviceBuffer>(gpu, std::max<std::size_t>(bytes, 1));
    return {memory, memory->as<void>()};
}

void check_shared_block(const std::string& shared) { cuda::check_shared_block(shared); }

std::unique_ptr<RemoteBlock> open_block(const std::string& shared, const std::string& device) {
    const int gpu = gpu_number(device);
    return gpu < 0 || shared.empty() ? nullptr : cuda::open_block(shared, gpu);
}

std::unique_ptr<BlockState> make_block(const BlockSpec& spec, const DeviceOptions& options) {
    if (spec.state->make_block != nullptr) {
        return spec.state->make_block(spec, options);
    }
    const int gpu = gpu_number(options.name);
    return gpu < 0 ? cpu::make_block(spec, {options.threads, options.isa}) : cuda::make_block(spec, gpu);
}

std::unique_ptr<BlockState> make_moment_block(const BlockSpec& spec, const DeviceOptions& options) {
    const int gpu = gpu_number(options.name);
    return gpu < 0 ? cpu::make_moment_block(spec, {options.threads, options.isa}) : cuda::make_moment_block(spec, gpu);
}

custom::Made make_parameters(const BlockSpec& spec, const DeviceOptions& options,
                             const std::vector<custom::GivenNumber>& given) {
    const int gpu = gpu_number(options.name);
    if (gpu >= 0) {
        return cuda::make_parameters(spec, given, gpu);
    }
    custom::Made made{};
    cpu::custom_kernels(spec, options.isa).make_parameters(given.data(), int(given.size()), &made);
    return made;
}

void follow_lines(const geometry::Surface& surface, const std::string& device, int threads, std::size_t bytes,
                  const std::function<void(geometry::LatticeLines&)>& work) {
    const int gpu = gpu_number(device);
    if (gpu >= 0) {
        try {
            cuda::MeshLines lines(surface, gpu, threads, bytes);
            work(lines);
            return;
        } catch (const cuda::OutOfDeviceMemory&) {  // threads of the host need none of it
        }
    }
    geometry::HostLines lines(surface, threads);
    work(lines);
}

FieldExtremes extremes(const GpuArray& array, const int (&corner)[3], const int (&size)[3]) {
    return cuda::extremes(array, corner, size);
}

double ordered_sum(const GpuArray& array, const int (&corner)[3], const int (&size)[3], const std::uint8_t* solid,
                   double start) {
    return cuda::ordered_sum(array, corner, size, solid, start);
}

void copy_to_host(const GpuArray& array, double* out) { cuda::copy_to_host(array, out); }

void wait_for_stream(int ordinal, std::uintptr_t stream) { cuda::wait_for_stream(ordinal, stream); }

int gpu_of(std::uintptr_t address, const std::string& device) { return cuda::gpu_of(address, gpu_number(device)); }

double propagation_seconds(const PropagationKind& kind, const PropagationBox& box, const DeviceOptions& options,
                           double seconds) {
    const int radius = with_stencil(kind.stencil, [](auto stencil) { return decltype(stencil)::radius; });
    const int depth = with_stencil(kind.stencil, [](auto stencil) { return decltype(stencil)::D; }) == 3 ? radius : 1;
    constexpr Index most = (Index(1) << 31) - 1;
    if (box.nx < radius || box.ny < radius || box.nz < depth || box.nx > most / box.ny / box.nz) {
        throw std::invalid_argument("shape: (" + std::to_string(box.nx) + ", " + std::to_string(box.ny) + ", " +
                                    std::to_string(box.nz) + ") given, must be at least " + std::to_string(radius) +
                                    " cells along each axis and fewer than 2^31 in all");
    }
    const int gpu = gpu_number(options.name);
    return gpu < 0 ? cpu::propagation_seconds(kind, box, options.threads, seconds)
                   : cuda::propagation_seconds(kind, box, gpu, seconds);
}

std::size_t memory_needed(const BlockSpec& spec, const std::string& device) {
    return block_bytes(spec, gpu_number(device) < 0 ? Device::Cpu : Device::Gpu);
}

}  // namespace lbm::backend
