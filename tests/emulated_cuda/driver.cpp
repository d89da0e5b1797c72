// The emulated CUDA driver: those functions of libcuda.so.1 that the engine calls, on the CPU.
//
// EMULATED_CUDA_DEVICES is the number of devices (1), EMULATED_CUDA_PEERS=0 forbids them to access each other's memory,
// EMULATED_CUDA_SHARED is the shared memory in KiB that a thread block of theirs may have (227).
// EMULATED_CUDA_SEED other than 0 runs work as late as its streams and events allow, and what they leave open in an
// order that the seed shuffles; without it work runs at once.
//
// emulated_requests tells tests how often the process has called what costs time on a GPU.
#include "../../src/cpp/backend/cuda/driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "copies.h"
#include "driver_state.h"

using lbm::cuda::BoxCopy;
using lbm::cuda::Context;
using lbm::cuda::Device;
using lbm::cuda::DeviceId;
using lbm::cuda::DevicePointer;
using lbm::cuda::Event;
using lbm::cuda::Function;
using lbm::cuda::Graph;
using lbm::cuda::GraphExec;
using lbm::cuda::IpcHandle;
using lbm::cuda::LaunchConfig;
using lbm::cuda::Module;
using lbm::cuda::Stream;

namespace emulated {
namespace {

constexpr int compute_capability[] = {9, 0};
constexpr int multiprocessors = 4, threads_a_multiprocessor = 2048, most_threads = 1024;
constexpr int usual_shared_bytes = 48 << 10;

/// The library of an image, loaded. The file is needed no longer then.
void* load(std::string_view library) {
    std::string name = (std::filesystem::temp_directory_path() / "emulated-kernel-XXXXXX").string();
    const int file = mkstemp(name.data());
    require(file >= 0, InvalidImage, "no temporary file can be made");
    close(file);
    std::ofstream(name, std::ios::binary).write(library.data(), std::streamsize(library.size()));
    void* loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    const std::string why = loaded == nullptr ? dlerror() : "";
    unlink(name.c_str());
    require(loaded != nullptr, InvalidImage, why.c_str());
    return loaded;
}

/// A launch, with its own copy of the arguments.
struct Launch {
    std::weak_ptr<lbm::cuda::FunctionOfDriver> function;
    std::vector<std::vector<std::byte>> arguments;
    Position grid, block;

    void run(State& own) const {
        const std::shared_ptr<lbm::cuda::FunctionOfDriver> alive = function.lock();
        require(alive != nullptr, LaunchFailed, "a kernel was launched whose module has been unloaded");
        std::vector<const void*> pointers;
        for (const std::vector<std::byte>& argument : arguments) {
            pointers.push_back(argument.data());
        }
        run_grid(*alive->entry, pointers.data(), grid, block, own.work.next_seed());
    }
};

}  // namespace
}  // namespace emulated

using namespace emulated;

extern "C" {

/// Sets how many launches there were of kernels, how many of them with programmatic dependent launch, and of graphs;
/// how many copies to the device and to the host, and of how many bytes; how often the host waited for a stream or an
/// event; and how many boxes of memory were copied.
void emulated_requests(Requests* so_far) {
    State& own = state();
    const std::lock_guard<std::mutex> lock(own.mutex);
    *so_far = own.requests;
}

int cuInit(unsigned) { return state().contexts.empty() ? 100 : 0; }

/// No version that there is, as that of the emulated NVRTC.
int cuDriverGetVersion(int* version) {
    *version = 13990;
    return 0;
}

int cuGetErrorName(int code, const char** name) {
    *name = name_of(code);
    return *name == nullptr ? int(InvalidValue) : 0;
}

int cuGetErrorString(int code, const char** text) {
    *text = code == OutOfMemory ? "out of memory" : "an error of the emulated driver";
    return 0;
}

int cuDeviceGetCount(int* count) {
    *count = int(state().contexts.size());
    return 0;
}

int cuDeviceGet(Device* device, int ordinal) {
    return guarded([&](State& own) {
        require(ordinal >= 0 && ordinal < int(own.contexts.size()), InvalidDevice, "no such device");
        *device = ordinal;
    });
}

int cuDeviceGetName(char* name, int length, Device) {
    std::snprintf(name, std::size_t(length), "Emulated GPU");
    return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, Device) {
    using lbm::cuda::DeviceAttribute;
    return guarded([&](State& own) {
        switch (DeviceAttribute(attribute)) {
            case DeviceAttribute::MultiprocessorCount: *value = multiprocessors; return;
            case DeviceAttribute::ComputeMajor: *value = compute_capability[0]; return;
            case DeviceAttribute::ComputeMinor: *value = compute_capability[1]; return;
            case DeviceAttribute::L2Bytes: *value = 16 << 10; return;  // less than the lattices of tests
            case DeviceAttribute::ThreadsPerMultiprocessor: *value = threads_a_multiprocessor; return;
            case DeviceAttribute::SharedBytesPerBlock: *value = own.most_shared_bytes; return;
        }
        throw Error(InvalidValue, "an attribute of devices that is not emulated");
    });
}

int cuDeviceTotalMem_v2(std::size_t* bytes, Device) {
    *bytes = state().memory.bytes();
    return 0;
}

int cuDeviceGetUuid_v2(DeviceId* id, Device device) {
    std::snprintf(id->bytes, sizeof id->bytes, "emulated %d", device);
    return 0;
}

int cuDevicePrimaryCtxRetain(Context* context, Device device) {
    return guarded([&](State& own) {
        *context = own.contexts.at(std::size_t(device)).get();
        (*context)->is_active = true;
    });
}

int cuDevicePrimaryCtxGetState(Device device, unsigned* flags, int* active) {
    return guarded([&](State& own) {
        *flags = 0;
        *active = own.contexts.at(std::size_t(device))->is_active ? 1 : 0;
    });
}

int cuDeviceCanAccessPeer(int* possible, Device own, Device other) {
    *possible = state().peers && own != other ? 1 : 0;
    return 0;
}

int cuCtxEnablePeerAccess(Context peer, unsigned) {
    return guarded([&](State& own) {
        require(own.peers && peer->device != current_device(), InvalidDevice, "no access to this device's memory");
        if (!current.back()->peers.insert(peer->device).second) {
            throw Error(PeerAlreadyEnabled, "");
        }
    });
}

int cuCtxPushCurrent_v2(Context context) {
    current.push_back(context);
    return 0;
}

int cuCtxPopCurrent_v2(Context* context) {
    if (current.empty()) {
        return InvalidContext;
    }
    *context = current.back();
    current.pop_back();
    return 0;
}

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    return guarded([&](State& own) {
        *free = own.memory.free_bytes(current_device());
        *total = own.memory.bytes();
    });
}

int cuMemAlloc_v2(DevicePointer* address, std::size_t bytes) {
    return guarded([&](State& own) { *address = own.memory.allocate(current_device(), bytes); });
}

int cuMemFree_v2(DevicePointer address) {
    return guarded([&](State& own) {
        own.work.finish_all();
        own.memory.free(address);
    });
}

int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
    return guarded([&](State& own) { *memory = own.memory.allocate_host(bytes); });
}

int cuMemFreeHost(void* memory) {
    return guarded([&](State& own) {
        own.work.finish_all();
        own.memory.free_host(memory);
    });
}

int cuModuleLoadData(Module* module, const void* image) {
    return guarded([&](State& own) {
        const std::string_view library = library_in(image);
        require(!library.empty(), InvalidImage, "no code of the emulated NVRTC");
        *module = new lbm::cuda::ModuleOfDriver{load(library), current_device(), {}};
        own.modules.insert(*module);
        auto** of_kernels = static_cast<Machine**>(dlsym((*module)->library, machine_symbol));
        require(of_kernels != nullptr, InvalidImage, "a library without kernels");
        *of_kernels = &machine();
    });
}

int cuModuleUnload(Module module) {
    return guarded([&](State& own) {
        require(own.modules.contains(module), InvalidHandle, "no such module");
        own.work.finish_all();
        own.modules.erase(module);
        module->functions.clear();
        dlclose(module->library);
        delete module;
    });
}

int cuModuleGetFunction(Function* function, Module module, const char* name) {
    return guarded([&](State& own) {
        require(own.modules.contains(module), InvalidHandle, "no such module");
        const auto* entry = static_cast<const KernelEntry*>(dlsym(module->library, name));
        require(entry != nullptr, NotFound, "no such kernel");
        auto& made = module->functions[name];
        made = std::make_shared<lbm::cuda::FunctionOfDriver>(lbm::cuda::FunctionOfDriver{entry, module->device, usual_shared_bytes});
        *function = made.get();
    });
}

/// Registers and local memory say nothing here.
int cuFuncGetAttribute(int* value, int attribute, Function) {
    *value = attribute == int(lbm::cuda::FunctionAttribute::Registers) ? 32 : 0;
    return 0;
}

int cuFuncSetAttribute(Function function, int attribute, int value) {
    return guarded([&](State& own) {
        require(attribute == int(lbm::cuda::FunctionAttribute::DynamicSharedBytes), InvalidValue,
                "an attribute of kernels that is not emulated");
        require(value <= own.most_shared_bytes, InvalidValue, "so much shared memory a thread block cannot have");
        function->shared_bytes = std::max(usual_shared_bytes, value);
    });
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function, int threads, std::size_t) {
    *blocks = threads_a_multiprocessor / threads;
    return 0;
}

int cuLaunchKernelEx(const LaunchConfig* config, Function function, const void* const* arguments, void**) {
    return guarded([&](State& own) {
        Launch launch{{},
                      {},
                      {config->grid[0], config->grid[1], config->grid[2]},
                      {config->block[0], config->block[1], config->block[2]}};
        for (const Module module : own.modules) {
            for (const auto& [name, its] : module->functions) {
                if (its.get() == function) {
                    launch.function = its;
                }
            }
        }
        require(!launch.function.expired(), InvalidHandle, "no such kernel");
        Queue& queue = queue_of(own, config->stream);
        if (!queue.capture) {
            ++own.requests.launches;
            own.requests.programmatic_launches += int(config->attribute_count);
        }
        require(function->device == queue.device, InvalidHandle, "a kernel of another device than its stream");
        const auto threads = std::size_t(launch.block.x) * launch.block.y * launch.block.z;
        require(threads > 0 && threads <= most_threads, InvalidValue, "so many threads a block cannot be");
        require(int(config->shared_bytes) <= function->shared_bytes, InvalidValue,
                "more shared memory than the kernel is allowed");
        require(launch.grid.x > 0 && launch.grid.x <= 0x7FFFFFFFU && launch.grid.y > 0 && launch.grid.y <= 65535 &&
                    launch.grid.z > 0 && launch.grid.z <= 65535,
                InvalidValue, "so many thread blocks cannot be");
        std::size_t bytes = 0;
        for (int k = 0; k < function->entry->parameters; ++k) {
            bytes += function->entry->parameter_bytes[k];
            launch.arguments.push_back(bytes_at(arguments[k], function->entry->parameter_bytes[k]));
        }
        require(bytes <= 32764, InvalidValue, "so many bytes of parameters cannot be");
        own.work.add(queue, [&own, launch = std::move(launch)] { launch.run(own); });
    });
}

int cuStreamCreateWithPriority(Stream* stream, unsigned, int) {
    return guarded([&](State& own) { *stream = reinterpret_cast<Stream>(own.work.make_queue(current_device())); });
}

int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    *least = 0;
    *greatest = -5;
    return 0;
}

int cuStreamDestroy_v2(Stream stream) {
    return guarded([&](State& own) { own.work.remove(&queue_of(own, stream)); });
}

int cuStreamWaitEvent(Stream stream, Event event, unsigned) {
    return guarded([&](State& own) { own.work.wait_in(queue_of(own, stream), event_of(own, event).mark); });
}

/// The default streams, which have numbers, wait for all streams, as those of other libraries may lie behind them.
int cuStreamSynchronize(Stream stream) {
    return guarded([&](State& own) {
        ++own.requests.waits;
        if (reinterpret_cast<std::uintptr_t>(stream) <= 2) {
            own.work.finish_all();
        } else {
            own.work.finish(queue_of(own, stream));
        }
    });
}

int cuStreamBeginCapture_v2(Stream stream, int) {
    return guarded([&](State& own) { own.work.begin_capture(queue_of(own, stream)); });
}

int cuStreamEndCapture(Stream stream, Graph* graph) {
    return guarded([&](State& own) {
        *graph = nullptr;
        auto nodes = std::make_shared<std::vector<Node>>(own.work.end_capture(queue_of(own, stream)));
        *graph = new lbm::cuda::GraphOfDriver{std::move(nodes)};
    });
}

int cuGraphInstantiateWithFlags(GraphExec* made, Graph graph, unsigned long long) {
    return guarded([&](State&) { *made = new lbm::cuda::GraphExecOfDriver{graph->nodes}; });
}

int cuGraphLaunch(GraphExec graph, Stream stream) {
    return guarded([&](State& own) {
        ++own.requests.graphs;
        own.work.add_graph(queue_of(own, stream), graph->nodes);
    });
}

int cuGraphDestroy(Graph graph) {
    delete graph;
    return 0;
}

int cuGraphExecDestroy(GraphExec graph) {
    return guarded([&](State&) { delete graph; });
}

int cuEventCreate(Event* event, unsigned flags) {
    constexpr unsigned no_timing = 2;
    return guarded([&](State& own) {
        *event = new lbm::cuda::EventOfDriver{current_device(), (flags & no_timing) == 0, {}};
        own.events.insert(*event);
    });
}

int cuEventRecord(Event event, Stream stream) {
    return guarded([&](State& own) {
        Queue& queue = queue_of(own, stream);
        require(event_of(own, event).device == queue.device, InvalidHandle,
                "an event of another device than its stream");
        own.work.record(queue, event->mark);
    });
}

int cuEventSynchronize(Event event) {
    return guarded([&](State& own) {
        ++own.requests.waits;
        own.work.finish(event_of(own, event).mark);
    });
}

int cuEventElapsedTime(float* milliseconds, Event from, Event to) {
    return guarded([&](State& own) {
        for (const Event event : {from, to}) {
            require(event_of(own, event).has_time && event->mark.point, InvalidHandle, "an event without a time");
            require(event->mark.point->is_reached, NotReady, "an event for which nobody has waited");
        }
        *milliseconds = float(1e3 * (to->mark.point->seconds - from->mark.point->seconds));
    });
}

int cuEventDestroy_v2(Event event) {
    return guarded([&](State& own) {
        event_of(own, event);
        own.events.erase(event);
        delete event;
    });
}

int cuMemGetAddressRange_v2(DevicePointer* begin, std::size_t* bytes, DevicePointer address) {
    return guarded([&](State& own) {
        const Memory::Range range = own.memory.range(address, 1);
        if (begin != nullptr) {
            *begin = range.begin;
        }
        if (bytes != nullptr) {
            *bytes = range.bytes;
        }
    });
}

/// What is asked of memory, by CUpointer_attribute: its type, which is 2 for that of a device, and its device.
int cuPointerGetAttribute(void* value, int attribute, DevicePointer address) {
    return guarded([&](State& own) {
        const int device = own.memory.device_of(address);
        require(device >= 0, InvalidValue, "no address in a device's memory");
        require(attribute == 2 || attribute == 9, InvalidValue, "an attribute of memory that is not emulated");
        *static_cast<int*>(value) = attribute == 2 ? 2 : device;
    });
}

// Nothing is shared with other processes.
int cuIpcGetMemHandle(IpcHandle*, DevicePointer) { return NotSupported; }
int cuIpcOpenMemHandle_v2(DevicePointer*, IpcHandle, unsigned) { return NotSupported; }
int cuIpcCloseMemHandle(DevicePointer) { return NotSupported; }
int cuIpcGetEventHandle(IpcHandle*, Event) { return NotSupported; }
int cuIpcOpenEventHandle(Event*, IpcHandle) { return NotSupported; }
}

#define CHECK_TYPE(member, symbol, ...) static_assert(std::is_same_v<decltype(symbol), __VA_ARGS__>);
LBM_DRIVER_FUNCTIONS(CHECK_TYPE)
#undef CHECK_TYPE
