// Copies, and sets, memory when it is the turn of the stream.
#include "copies.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "driver_state.h"

using lbm::cuda::BoxCopy;
using lbm::cuda::BoxCopyEnd;
using lbm::cuda::Context;
using lbm::cuda::DevicePointer;
using lbm::cuda::Stream;

namespace emulated {
namespace {

template <class T>
T* pointer(DevicePointer address) {
    return reinterpret_cast<T*>(address);
}

/// Refuses an end of a copy of boxes that is not all in one allocation, or whose rows or layers overlap.
void check_end(State& own, const BoxCopyEnd& end, const BoxCopy& copy) {
    require(end.memory_type == BoxCopyEnd::unified, InvalidValue, "memory of another type");
    require(std::all_of(std::begin(end.offset), std::end(end.offset), [](std::size_t of) { return of == 0; }),
            InvalidValue, "the box begins elsewhere");
    require(end.pitch >= copy.row_bytes && end.height >= copy.rows, InvalidValue, "rows or layers overlap");
    const std::size_t rows = (copy.layers - 1) * end.height + copy.rows - 1;
    own.memory.range(end.address, rows * end.pitch + copy.row_bytes);
}

}  // namespace
}  // namespace emulated

using namespace emulated;

extern "C" {

int cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes, Stream stream) {
    return guarded([&](State& own) {
        own.memory.range(to, bytes);
        ++own.requests.copies_to_device;
        own.requests.bytes_to_device += (long long)(bytes);
        Queue& queue = queue_of(own, stream);
        if (own.memory.is_pinned(from, bytes) || queue.capture) {
            own.work.add(queue, [=] { std::memcpy(pointer<void>(to), from, bytes); });
        } else {  // the caller may change what it gave as soon as the call returns
            own.work.add(queue,
                         [=, kept = bytes_at(from, bytes)] { std::memcpy(pointer<void>(to), kept.data(), bytes); });
        }
    });
}

int cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes, Stream stream) {
    return guarded([&](State& own) {
        own.memory.range(from, bytes);
        ++own.requests.copies_to_host;
        own.requests.bytes_to_host += (long long)(bytes);
        Queue& queue = queue_of(own, stream);
        own.work.add(queue, [=] { std::memcpy(to, pointer<const void>(from), bytes); });
        if (!queue.capture && !own.memory.is_pinned(to, bytes)) {
            own.work.finish(queue);  // such a copy has completed when the call returns
        }
    });
}

int cuMemcpyPeerAsync(DevicePointer to, Context, DevicePointer from, Context, std::size_t bytes, Stream stream) {
    return guarded([&](State& own) {
        own.memory.range(to, bytes);
        own.memory.range(from, bytes);
        own.work.add(queue_of(own, stream), [=] { std::memcpy(pointer<void>(to), pointer<const void>(from), bytes); });
    });
}

int cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t bytes, Stream stream) {
    return guarded([&](State& own) {
        own.memory.range(to, bytes);
        own.work.add(queue_of(own, stream), [=] { std::memset(pointer<void>(to), value, bytes); });
    });
}

int cuMemcpy3DAsync_v2(const BoxCopy* given, Stream stream) {
    return guarded([&](State& own) {
        const BoxCopy copy = *given;
        ++own.requests.box_copies;
        require(copy.row_bytes > 0 && copy.rows > 0 && copy.layers > 0, InvalidValue, "nothing is to be copied");
        check_end(own, copy.source, copy);
        check_end(own, copy.target, copy);
        own.work.add(queue_of(own, stream), [=] {
            const auto row = [](const BoxCopyEnd& end, std::size_t y, std::size_t z) {
                return pointer<std::byte>(end.address + (z * end.height + y) * end.pitch);
            };
            for (std::size_t z = 0; z < copy.layers; ++z) {
                for (std::size_t y = 0; y < copy.rows; ++y) {
                    std::memcpy(row(copy.target, y, z), row(copy.source, y, z), copy.row_bytes);
                }
            }
        });
    });
}

}  // extern "C"
