// Finds the functions of NVTX at run time: those of the tool that started this process, or those of a library.
#include "profiler_ranges.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>

namespace lbm::process {
namespace {

using Push = int (*)(const char*);
using Pop = int (*)();
using Function = void (*)();

// The protocol of NVTX 3 (nvtxDetail/nvtxTypes.h of its headers). A tool asks for tables by number and stores its own
// functions where the entries of a table of functions point to.
constexpr std::uint32_t callbacks_table = 1, version_table = 3, version = 3;
constexpr int core_module = 1;
constexpr int core_functions = 16;
constexpr int range_push = 9, range_pop = 11;

struct CallbacksTable {
    std::size_t size;
    int (*module_functions)(int module, Function*** functions, unsigned* count);
};

struct VersionTable {
    std::size_t size;
    std::uint32_t version, reserved;
    void (*set_tool_version)(std::uint32_t);
};

Function tool_functions[core_functions] = {};
Function* tool_entries[core_functions + 1] = {};

int module_functions(int module, Function*** functions, unsigned* count) {
    if (module != core_module) {
        return 0;
    }
    for (int k = 1; k < core_functions; ++k) {  // entry 0 stands for none
        tool_entries[k] = &tool_functions[k];
    }
    if (functions != nullptr) {
        *functions = tool_entries;
    }
    if (count != nullptr) {
        *count = core_functions;
    }
    return 1;
}

const void* table(std::uint32_t number) {
    static const CallbacksTable callbacks = {sizeof(CallbacksTable), module_functions};
    static const VersionTable versions = {sizeof(VersionTable), version, 0, [](std::uint32_t) {}};
    if (number == callbacks_table) {
        return &callbacks;
    }
    return number == version_table ? static_cast<const void*>(&versions) : nullptr;
}

struct Ranges {
    Push push = nullptr;
    Pop pop = nullptr;

    /// Takes a pair of functions if both are there, and says so.
    bool take(Push a_push, Pop a_pop) {
        if (a_push == nullptr || a_pop == nullptr) {
            return false;
        }
        push = a_push;
        pop = a_pop;
        return true;
    }
};

Ranges find() {
    Ranges found;
    const char* tool = std::getenv("NVTX_INJECTION64_PATH");
    if (tool != nullptr) {
        using Initialize = int (*)(const void* (*)(std::uint32_t));
        void* library = dlopen(tool, RTLD_LAZY);
        const auto initialize =
            library == nullptr ? nullptr : reinterpret_cast<Initialize>(dlsym(library, "InitializeInjectionNvtx2"));
        if (initialize != nullptr && initialize(table) != 0 &&
            found.take(reinterpret_cast<Push>(tool_functions[range_push]),
                       reinterpret_cast<Pop>(tool_functions[range_pop]))) {
            return found;
        }
    }
    for (const char* name : {"libnvToolsExt.so.1", "libnvtx3interop.so.1"}) {
        void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
        if (library != nullptr && found.take(reinterpret_cast<Push>(dlsym(library, "nvtxRangePushA")),
                                             reinterpret_cast<Pop>(dlsym(library, "nvtxRangePop")))) {
            return found;
        }
    }
    return found;
}

const Ranges& ranges() {
    static const Ranges instance = find();
    return instance;
}

}  // namespace

ProfilerRange::ProfilerRange(const char* name) {
    if (ranges().push != nullptr) {
        ranges().push(name);
    }
}

ProfilerRange::~ProfilerRange() {
    if (ranges().pop != nullptr) {
        ranges().pop();
    }
}

}  // namespace lbm::process
