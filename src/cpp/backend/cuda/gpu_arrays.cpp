// Launches the kernels that read arrays of users, each on the GPU in whose memory the array is.
#include "gpu_arrays.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../../process/fork.h"
#include "kernel_set.h"
#include "kernels/flat_block.h"
#include "upload.h"

namespace lbm::cuda {
namespace {

using backend::BoxRows;
using backend::FieldExtremes;
using backend::GpuArray;

constexpr unsigned most_blocks = 1024;

/// A stream of its own and the kernels on a GPU, which need not be one of a solver.
struct ArrayReader {
    explicit ArrayReader(int ordinal) : stream(ordinal), kernels(ordinal, device_info(ordinal).architecture()) {}

    const Kernel& kernel(const char* name, const GpuArray& array) {
        return kernels.get(
            {"gpu_arrays.h", std::string("lbm::cuda::") + name + (array.item == 8 ? "<double>" : "<float>")});
    }

    WorkStream stream;
    KernelSet kernels;
};

/// The reader of a GPU, which one thread at a time uses.
class ReaderInUse {
public:
    explicit ReaderInUse(int ordinal) : lock_(mutex()), reader_(of(ordinal)) {}
    ArrayReader* operator->() const { return &reader_; }

private:
    static process::Mutex& mutex() {
        static auto& own = *new process::Mutex;
        driver();  // throws in a forked child, before the lock
        return own;
    }
    static ArrayReader& of(int ordinal) {
        static auto& all = *new std::map<int, ArrayReader>;  // never destroyed: threads may still work at exit
        return all.try_emplace(ordinal, ordinal).first->second;
    }

    std::lock_guard<process::Mutex> lock_;
    ArrayReader& reader_;
};

/// The rows of a box, and the array, with the array's axes in the order of their strides, so that neighbouring threads
/// read neighbouring numbers: for what does not depend on the order of cells.
std::pair<GpuArray, BoxRows> in_memory_order(GpuArray array, const int (&corner)[3], const int (&size)[3]) {
    int order[3] = {0, 1, 2};
    std::stable_sort(order, order + 3, [&](int a, int b) {
        const auto step = [&](int axis) { return size[axis] > 1 ? std::abs(array.strides[axis]) : Index(1) << 62; };
        return step(a) < step(b);
    });
    const GpuArray given = array;
    int at[3], cells[3];
    for (int a = 0; a < 3; ++a) {
        array.size[a] = given.size[order[a]];
        array.strides[a] = given.strides[order[a]];
        array.first[a] = given.first[order[a]];
        at[a] = corner[order[a]];
        cells[a] = size[order[a]];
    }
    return {array, {{at[0], at[1], at[2]}, cells[0], cells[1], 0, Index(cells[1]) * cells[2]}};
}

}  // namespace

void gather(const GpuArray& array, const BoxRows& rows, int component, const WorkStream& stream, DevicePointer to) {
    const ReaderInUse reader(array.ordinal);
    const bool is_near = stream.ordinal() == array.ordinal;
    const std::size_t bytes = std::size_t(rows.count()) * sizeof(double);
    const DeviceBuffer gathered(array.ordinal, is_near ? 0 : bytes);
    const DevicePointer out = is_near ? to : gathered.address();
    reader->kernel("gather", array).launch(reader->stream, flat(rows.count()), array, rows, component, out);
    if (!is_near) {
        reader->stream.copy_to_gpu(to, stream.ordinal(), out, bytes);
    }
    reader->stream.synchronize();
}

void copy_component(const FieldSource& field, int nx, int ny, Index cells, RowRange rows, int component,
                    const WorkStream& stream, DevicePointer to) {
    if (field.gpu.array != nullptr) {
        const int(&corner)[3] = field.gpu.corner;
        gather(*field.gpu.array, {{corner[0], corner[1], corner[2]}, nx, ny, rows.first, rows.last}, component, stream,
               to);
        return;
    }
    stream.copy_to_device(to, field.host + component * cells + rows.first * nx,
                          sizeof(double) * std::size_t((rows.last - rows.first) * nx));
}

FieldExtremes extremes(const GpuArray& array, const int (&corner)[3], const int (&size)[3]) {
    const auto [ordered, rows] = in_memory_order(array, corner, size);
    const ReaderInUse reader(array.ordinal);
    LaunchDimensions dimensions = flat(rows.count());
    dimensions.blocks = std::min(dimensions.blocks, most_blocks);
    std::vector<FieldExtremes> parts(dimensions.blocks);
    const DeviceBuffer partial(array.ordinal, parts.size() * sizeof(FieldExtremes));
    reader->kernel("field_extremes", array)
        .launch(reader->stream, dimensions, ordered, rows, partial.as<FieldExtremes>());
    reader->stream.copy_to_host(parts.data(), partial.address(), partial.bytes());
    reader->stream.synchronize();
    FieldExtremes all = FieldExtremes::of_none();
    for (const FieldExtremes& part : parts) {
        all.join(part);
    }
    return all;
}

double ordered_sum(const GpuArray& array, const int (&corner)[3], const int (&size)[3], const std::uint8_t* solid,
                   double start) {
    const BoxRows rows{{corner[0], corner[1], corner[2]}, size[0], size[1], 0, Index(size[1]) * size[2]};
    const ReaderInUse reader(array.ordinal);
    DeviceBuffer mask;
    upload(mask, reader->stream, solid, solid == nullptr ? 0 : std::size_t(rows.count()));
    const DeviceBuffer sum(array.ordinal, sizeof(double));
    const LaunchDimensions one_block{1, flat_block, 1};
    reader->kernel("sum_in_order", array)
        .launch(reader->stream, one_block, array, rows, mask.as<unsigned char>(), start, sum.as<double>());
    double total = 0;
    reader->stream.copy_to_host(&total, sum.address(), sizeof total);
    reader->stream.synchronize();
    return total;
}

void copy_to_host(const GpuArray& array, double* out) {
    constexpr Index most_cells = Index(8) << 20;
    const Index all = Index(array.size[1]) * array.size[2], nx = array.size[0];
    const Index step = std::clamp<Index>(most_cells / nx, 1, all);
    const ReaderInUse reader(array.ordinal);
    const DeviceBuffer numbers(array.ordinal, std::size_t(step * nx) * sizeof(double));
    const int(&first)[3] = array.first;
    for (int d = 0; d < std::max(array.components, 1); ++d) {
        for (Index row = 0; row < all; row += step) {
            const BoxRows rows{
                {first[0], first[1], first[2]}, array.size[0], array.size[1], row, std::min(row + step, all)};
            reader->kernel("gather", array)
                .launch(reader->stream, flat(rows.count()), array, rows, d, numbers.as<double>());
            reader->stream.copy_to_host(out + (d * all + row) * nx, numbers.address(),
                                        sizeof(double) * std::size_t(rows.count()));
            reader->stream.synchronize();
        }
    }
}

void wait_for_stream(int ordinal, std::uintptr_t stream) {
    const DeviceScope scope(ordinal);
    driver().check(driver().stream_synchronize(std::bit_cast<Stream>(stream)), "cuStreamSynchronize");
}

int gpu_of(DevicePointer address, int current) {
    constexpr int memory_type = 2, device_ordinal = 9;  // CUpointer_attribute
    constexpr int of_device = 2;                        // CUmemorytype
    const DeviceScope scope(current);
    int type = 0, ordinal = -1;
    if (driver().pointer_attribute(&type, memory_type, address) != 0 || type != of_device ||
        driver().pointer_attribute(&ordinal, device_ordinal, address) != 0) {
        return -1;
    }
    return ordinal;
}

}  // namespace lbm::cuda
