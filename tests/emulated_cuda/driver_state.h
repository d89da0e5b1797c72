// What a process has of the emulated CUDA: devices and their contexts, memory, work, modules and events; and how the
// driver's functions work on it, one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "../../src/cpp/backend/cuda/driver.h"
#include "code_image.h"
#include "error.h"
#include "grid.h"
#include "memory.h"
#include "work.h"

namespace lbm::cuda {

struct ContextOfDriver {
    Device device;
    bool is_active;
    std::set<Device> peers;
};

struct FunctionOfDriver {
    const emulated::KernelEntry* entry;
    Device device;
    int shared_bytes;  // that a launch may have
};

struct ModuleOfDriver {
    void* library;
    Device device;
    std::map<std::string, std::shared_ptr<FunctionOfDriver>> functions;
};

struct EventOfDriver {
    Device device;
    bool has_time;
    emulated::Mark mark;
};

struct GraphOfDriver {
    std::shared_ptr<const std::vector<emulated::Node>> nodes;
};

struct GraphExecOfDriver {
    std::shared_ptr<const std::vector<emulated::Node>> nodes;
};

}  // namespace lbm::cuda

namespace emulated {

using lbm::cuda::Context;
using lbm::cuda::Device;
using lbm::cuda::Event;
using lbm::cuda::Module;
using lbm::cuda::Stream;

inline constexpr std::size_t memory_bytes = std::size_t(4) << 30;

inline int number_from(const char* variable, int otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::atoi(text);
}

/// How many devices the process sees: of a list in CUDA_VISIBLE_DEVICES as many as it names, if there are so many.
inline int visible_devices() {
    const int all = std::max(0, number_from("EMULATED_CUDA_DEVICES", 1));
    const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
    if (list == nullptr) {
        return all;
    }
    const std::string names = list;
    return names.empty() ? 0 : std::min(all, 1 + int(std::count(names.begin(), names.end(), ',')));
}

/// What the process has asked of the driver so far, as `emulated_requests` gives it.
struct Requests {
    long long launches, programmatic_launches, graphs, copies_to_device, copies_to_host, waits;
    long long bytes_to_device, bytes_to_host, box_copies;
};

/// All that the process has of CUDA.
struct State {
    std::mutex mutex;
    std::vector<std::unique_ptr<lbm::cuda::ContextOfDriver>> contexts;  // of each device
    bool peers = number_from("EMULATED_CUDA_PEERS", 1) != 0;
    int most_shared_bytes = number_from("EMULATED_CUDA_SHARED", 227) << 10;  // of a thread block
    Memory memory{memory_bytes};
    Work work{unsigned(number_from("EMULATED_CUDA_SEED", 0))};
    std::set<Module> modules;
    std::set<Event> events;
    bool has_failed = false;
    Requests requests{};

    State() {
        for (int k = 0; k < visible_devices(); ++k) {
            contexts.emplace_back(new lbm::cuda::ContextOfDriver{k, false, {}});
        }
    }
};

inline State& state() {
    static State& instance = *new State;  // never destroyed: threads may still call at exit
    return instance;
}

inline thread_local std::vector<Context> current;  // the calling thread's stack of contexts

/// Calls a function of the driver, alone, and returns its error code. After a kernel has failed, all fail.
template <class Call>
int guarded(Call&& call) {
    State& own = state();
    const std::lock_guard<std::mutex> lock(own.mutex);
    if (own.has_failed) {
        return LaunchFailed;
    }
    try {
        call(own);
        return 0;
    } catch (const Error& error) {
        own.has_failed = error.code == LaunchFailed;
        if (*error.what() != '\0') {
            std::fprintf(stderr, "emulated CUDA: %s\n", error.what());
        }
        return error.code;
    }
}

inline void require(bool condition, Code code, const char* what) {
    if (!condition) {
        throw Error(code, what);
    }
}

inline std::vector<std::byte> bytes_at(const void* from, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(from);
    return {first, first + bytes};
}

inline Device current_device() {
    require(!current.empty(), InvalidContext, "no context is current");
    return current.back()->device;
}

inline Queue& queue_of(State& own, Stream stream) {
    auto* queue = reinterpret_cast<Queue*>(stream);
    require(own.work.has(queue), InvalidHandle, "no such stream");
    require(queue->device == current_device(), InvalidHandle, "a stream of another device than the current one");
    return *queue;
}

inline lbm::cuda::EventOfDriver& event_of(State& own, Event event) {
    require(own.events.contains(event), InvalidHandle, "no such event");
    return *event;
}

}  // namespace emulated
