// Loads the CUDA driver library, and queries the properties of GPUs.
#include "driver.h"

#include <dlfcn.h>

#include <atomic>

#include "../../process/fork.h"
#include "device.h"

namespace lbm::cuda {
namespace {

constexpr int out_of_memory = 2;

Driver load() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw CudaMissing("no CUDA driver: libcuda.so.1 cannot be loaded (" + std::string(dlerror()) +
                          "); install the driver of an NVIDIA GPU, or use device 'cpu'");
    }
    Driver driver{};
#define LBM_LOAD(member, symbol, ...)                                                                      \
    driver.member = reinterpret_cast<std::add_pointer_t<__VA_ARGS__>>(dlsym(library, #symbol));            \
    if (driver.member == nullptr) {                                                                        \
        throw CudaMissing("the CUDA driver is too old: it lacks " #symbol "; CUDA 12 or newer is needed"); \
    }
    LBM_DRIVER_FUNCTIONS(LBM_LOAD)
#undef LBM_LOAD
    const int result = driver.init(0);
    if (result != 0) {
        const char* words = nullptr;
        driver.error_string(result, &words);
        throw CudaMissing("the CUDA driver finds no GPU to work with (cuInit: " +
                          std::string(words == nullptr ? "unknown error" : words) + ")");
    }
    return driver;
}

int attribute(DeviceAttribute which, Device device) {
    int value = 0;
    driver().check(driver().device_attribute(&value, int(which), device), "cuDeviceGetAttribute");
    return value;
}

}  // namespace

const Driver& driver() {
    static std::atomic<int> user{0};  // process generation (process/fork.h) that first used CUDA
    const int now = process::generation();
    int before = 0;
    if (!user.compare_exchange_strong(before, now) && before != now) {
        throw process::ForkError("CUDA cannot be used in a child of a process that has used it");
    }
    try {
        static const Driver instance = load();
        return instance;
    } catch (...) {
        user = 0;
        throw;
    }
}

void Driver::check(int result, const char* what) const {
    if (result == 0) {
        return;
    }
    const char* name = nullptr;
    const char* words = nullptr;
    error_name(result, &name);
    error_string(result, &words);
    const std::string message = std::string(what) + ": " + (words == nullptr ? "unknown error" : words) + " (" +
                                (name == nullptr ? std::to_string(result) : name) + ")";
    if (result == out_of_memory) {
        throw OutOfDeviceMemory(message);
    }
    throw CudaError(message);
}

int device_count() {
    int count = 0;
    driver().check(driver().device_count(&count), "cuDeviceGetCount");
    return count;
}

DeviceInfo device_info(int ordinal) {
    if (ordinal < 0 || ordinal >= device_count()) {
        throw std::invalid_argument("device: 'cuda:" + std::to_string(ordinal) + "' given, but there are " +
                                    std::to_string(device_count()) + " GPUs");
    }
    DeviceInfo info{};
    info.ordinal = ordinal;
    Device device = 0;
    driver().check(driver().device_get(&device, ordinal), "cuDeviceGet");
    char name[256] = {};
    driver().check(driver().device_name(name, sizeof name, device), "cuDeviceGetName");
    info.name = name;
    info.major = attribute(DeviceAttribute::ComputeMajor, device);
    info.minor = attribute(DeviceAttribute::ComputeMinor, device);
    info.multiprocessors = attribute(DeviceAttribute::MultiprocessorCount, device);
    info.l2_bytes = std::size_t(attribute(DeviceAttribute::L2Bytes, device));
    info.threads_per_multiprocessor = attribute(DeviceAttribute::ThreadsPerMultiprocessor, device);
    info.shared_bytes_per_block = attribute(DeviceAttribute::SharedBytesPerBlock, device);
    driver().check(driver().device_memory(&info.memory, device), "cuDeviceTotalMem");
    const DeviceScope scope(ordinal);
    std::size_t total = 0;
    driver().check(driver().memory_info(&info.free_memory, &total), "cuMemGetInfo");
    return info;
}

int driver_version() {
    int version = 0;
    driver().check(driver().driver_version(&version), "cuDriverGetVersion");
    return version;
}

}  // namespace lbm::cuda
