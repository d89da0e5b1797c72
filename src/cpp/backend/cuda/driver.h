// The CUDA driver, loaded at run time: the types and functions of its interface that this backend uses, and the errors
// that it throws.
//
// The declarations restate the driver's binary interface, so that building needs no CUDA toolkit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace lbm::cuda {

using Device = int;
using DevicePointer = unsigned long long;
using Context = struct ContextOfDriver*;
using Module = struct ModuleOfDriver*;
using Function = struct FunctionOfDriver*;
using Stream = struct StreamOfDriver*;
using Event = struct EventOfDriver*;
using Graph = struct GraphOfDriver*;
using GraphExec = struct GraphExecOfDriver*;

/// CUipcMemHandle and CUipcEventHandle.
struct IpcHandle {
    char bytes[64];
};
/// CUuuid.
struct DeviceId {
    char bytes[16];
};

/// A failed CUDA call; the message has the name of the call and CUDA's description of the error.
class CudaError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// CUDA, or a part of it, is not installed; the message says which part, and how to get it.
class CudaMissing : public CudaError {
    using CudaError::CudaError;
};
class OutOfDeviceMemory : public CudaError {
    using CudaError::CudaError;
};

/// CUlaunchAttribute, with the one attribute that is used, programmatic dependent launch: a kernel may start before the
/// previous one has ended, for which it waits itself.
struct LaunchAttribute {
    int id;  // 6: programmatic stream serialization
    int padding;
    int allowed;
    int unused[15];
};

/// CUlaunchConfig.
struct LaunchConfig {
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    Stream stream;
    LaunchAttribute* attributes;
    unsigned attribute_count;
};

/// An end of CUDA_MEMCPY3D: rows of memory, with the bytes and the rows from one to the next of its rows and layers.
struct BoxCopyEnd {
    static constexpr int unified = 4;  // the address says where the memory is

    std::size_t offset[4];
    int memory_type;
    const void* host;
    DevicePointer address;
    void *array, *reserved;
    std::size_t pitch, height;
};
/// CUDA_MEMCPY3D.
struct BoxCopy {
    BoxCopyEnd source, target;
    std::size_t row_bytes, rows, layers;
};
static_assert(sizeof(BoxCopyEnd) == 88 && offsetof(BoxCopyEnd, address) == 48 && sizeof(BoxCopy) == 200);

// Name of the member, symbol in the library, type.
#define LBM_DRIVER_FUNCTIONS(X)                                                                               \
    X(init, cuInit, int(unsigned))                                                                            \
    X(driver_version, cuDriverGetVersion, int(int*))                                                          \
    X(error_name, cuGetErrorName, int(int, const char**))                                                     \
    X(error_string, cuGetErrorString, int(int, const char**))                                                 \
    X(device_count, cuDeviceGetCount, int(int*))                                                              \
    X(device_get, cuDeviceGet, int(Device*, int))                                                             \
    X(device_name, cuDeviceGetName, int(char*, int, Device))                                                  \
    X(device_attribute, cuDeviceGetAttribute, int(int*, int, Device))                                         \
    X(device_memory, cuDeviceTotalMem_v2, int(std::size_t*, Device))                                          \
    X(context_retain, cuDevicePrimaryCtxRetain, int(Context*, Device))                                        \
    X(context_state, cuDevicePrimaryCtxGetState, int(Device, unsigned*, int*))                                \
    X(context_enable_peer, cuCtxEnablePeerAccess, int(Context, unsigned))                                     \
    X(device_can_access_peer, cuDeviceCanAccessPeer, int(int*, Device, Device))                               \
    X(context_push, cuCtxPushCurrent_v2, int(Context))                                                        \
    X(context_pop, cuCtxPopCurrent_v2, int(Context*))                                                         \
    X(memory_info, cuMemGetInfo_v2, int(std::size_t*, std::size_t*))                                          \
    X(memory_allocate, cuMemAlloc_v2, int(DevicePointer*, std::size_t))                                       \
    X(memory_free, cuMemFree_v2, int(DevicePointer))                                                          \
    X(host_allocate, cuMemHostAlloc, int(void**, std::size_t, unsigned))                                      \
    X(host_free, cuMemFreeHost, int(void*))                                                                   \
    X(copy_to_device, cuMemcpyHtoDAsync_v2, int(DevicePointer, const void*, std::size_t, Stream))             \
    X(copy_to_host, cuMemcpyDtoHAsync_v2, int(void*, DevicePointer, std::size_t, Stream))                     \
    X(copy_peer, cuMemcpyPeerAsync, int(DevicePointer, Context, DevicePointer, Context, std::size_t, Stream)) \
    X(copy_box, cuMemcpy3DAsync_v2, int(const BoxCopy*, Stream))                                              \
    X(pointer_attribute, cuPointerGetAttribute, int(void*, int, DevicePointer))                               \
    X(set_bytes, cuMemsetD8Async, int(DevicePointer, unsigned char, std::size_t, Stream))                     \
    X(module_load, cuModuleLoadData, int(Module*, const void*))                                               \
    X(module_unload, cuModuleUnload, int(Module))                                                             \
    X(module_function, cuModuleGetFunction, int(Function*, Module, const char*))                              \
    X(function_attribute, cuFuncGetAttribute, int(int*, int, Function))                                       \
    X(set_function_attribute, cuFuncSetAttribute, int(Function, int, int))                                    \
    X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor, int(int*, Function, int, std::size_t))          \
    X(launch, cuLaunchKernelEx, int(const LaunchConfig*, Function, const void* const*, void**))               \
    X(stream_create, cuStreamCreateWithPriority, int(Stream*, unsigned, int))                                 \
    X(stream_priorities, cuCtxGetStreamPriorityRange, int(int*, int*))                                        \
    X(stream_destroy, cuStreamDestroy_v2, int(Stream))                                                        \
    X(stream_wait, cuStreamWaitEvent, int(Stream, Event, unsigned))                                           \
    X(stream_synchronize, cuStreamSynchronize, int(Stream))                                                   \
    X(capture_begin, cuStreamBeginCapture_v2, int(Stream, int))                                               \
    X(capture_end, cuStreamEndCapture, int(Stream, Graph*))                                                   \
    X(graph_instantiate, cuGraphInstantiateWithFlags, int(GraphExec*, Graph, unsigned long long))             \
    X(graph_launch, cuGraphLaunch, int(GraphExec, Stream))                                                    \
    X(graph_destroy, cuGraphDestroy, int(Graph))                                                              \
    X(graph_exec_destroy, cuGraphExecDestroy, int(GraphExec))                                                 \
    X(event_create, cuEventCreate, int(Event*, unsigned))                                                     \
    X(event_record, cuEventRecord, int(Event, Stream))                                                        \
    X(event_synchronize, cuEventSynchronize, int(Event))                                                      \
    X(event_elapsed, cuEventElapsedTime, int(float*, Event, Event))                                           \
    X(event_destroy, cuEventDestroy_v2, int(Event))                                                           \
    X(device_id, cuDeviceGetUuid_v2, int(DeviceId*, Device))                                                  \
    X(memory_range, cuMemGetAddressRange_v2, int(DevicePointer*, std::size_t*, DevicePointer))                \
    X(memory_share, cuIpcGetMemHandle, int(IpcHandle*, DevicePointer))                                        \
    X(memory_open, cuIpcOpenMemHandle_v2, int(DevicePointer*, IpcHandle, unsigned))                           \
    X(memory_close, cuIpcCloseMemHandle, int(DevicePointer))                                                  \
    X(event_share, cuIpcGetEventHandle, int(IpcHandle*, Event))                                               \
    X(event_open, cuIpcOpenEventHandle, int(Event*, IpcHandle))

/// The functions of the driver. Each returns 0 or an error code, which `check` turns into an exception.
struct Driver {
#define LBM_MEMBER(member, symbol, ...) std::add_pointer_t<__VA_ARGS__> member;
    LBM_DRIVER_FUNCTIONS(LBM_MEMBER)
#undef LBM_MEMBER

    void check(int result, const char* what) const;
};

/// The driver, loaded and initialised at the first call. Throws CudaMissing if there is no driver or GPU, and
/// process::ForkError in a forked child of a process that has used CUDA.
const Driver& driver();

/// Values of CUdevice_attribute and CUfunction_attribute.
enum class DeviceAttribute : int {
    MultiprocessorCount = 16,
    ComputeMajor = 75,
    ComputeMinor = 76,
    L2Bytes = 38,
    ThreadsPerMultiprocessor = 39,
    SharedBytesPerBlock = 97  // that a kernel may ask for
};
enum class FunctionAttribute : int { LocalBytes = 3, Registers = 4, DynamicSharedBytes = 8 };

struct DeviceInfo {
    int ordinal;
    std::string name;
    int major, minor;
    std::size_t memory, free_memory;
    int multiprocessors;
    std::size_t l2_bytes;
    int threads_per_multiprocessor;
    int shared_bytes_per_block;

    std::string architecture() const { return "sm_" + std::to_string(10 * major + minor); }
};

int device_count();
/// The properties of a GPU. Throws std::invalid_argument if there is no device with this ordinal.
DeviceInfo device_info(int ordinal);

/// The CUDA version that the driver supports, as 1000 major + 10 minor.
int driver_version();

}  // namespace lbm::cuda
