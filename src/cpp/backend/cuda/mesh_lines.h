// Follows lattice lines through a surface of triangles on a GPU.
#pragma once

#include "../../geometry/lattice_lines.h"
#include "kernel_set.h"
#include "kernels/mesh_arguments.h"

namespace lbm::cuda {

/// The surface goes to the GPU when it is first asked for. Crossings found there take `bytes` of its memory at most:
/// they are found for as many lines at a time. Throws OutOfDeviceMemory where that is not free.
class MeshLines final : public geometry::LatticeLines {
public:
    MeshLines(const geometry::Surface& surface, int ordinal, int threads, std::size_t bytes);

    void fill(const geometry::Part& inner, const geometry::Part& part, std::uint8_t* solid) override;
    void for_cuts(const geometry::LineDirection& along, const geometry::LineRange& lines, const geometry::CellBox& box,
                  const TakeCuts& take) override;

private:
    void begin();
    const Kernel& kernel(const char* name) { return kernels_.get({"mesh_lines.h", std::string("lbm::cuda::") + name}); }
    MeshArguments arguments(const geometry::LineDirection& along, const geometry::LineRange& lines) const;
    UInt64 find(const geometry::LineDirection& along, const geometry::LineRange& lines, const geometry::CellBox& box);
    void hand_over(std::size_t count, const TakeCuts& take);

    WorkStream stream_;
    KernelSet kernels_;
    const std::size_t bytes_;
    DeviceBuffer vertices_, whole_, triangles_, count_, cuts_;
    std::size_t capacity_ = 0;  // of cuts_
};

}  // namespace lbm::cuda
