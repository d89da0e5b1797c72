// Fields that stay in the memory of GPUs: the additional interface of blocks that take them, and what is asked of such
// an array by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "field_extremes.h"
#include "gpu_array.h"
#include "initial_state.h"

namespace lbm::backend {

/// A field of a box of cells; null where there is none.
struct GpuField {
    const GpuArray* array = nullptr;
    int corner[3] = {0, 0, 0};  // the domain's cell that is the first of the box
};

/// Those of an initial state, in the box of its InitialFields.
struct GpuFields {
    const GpuArray *density = nullptr, *velocity = nullptr, *temperature = nullptr;
    int corner[3] = {0, 0, 0};
};

/// What blocks on GPUs take of arrays in the memory of any GPU of the process, without the host. All numbers go through
/// double, as those of arrays of the host do, so that the state has the same bits.
class GpuInputs {
public:
    GpuInputs() = default;
    GpuInputs(const GpuInputs&) = delete;
    GpuInputs& operator=(const GpuInputs&) = delete;
    virtual ~GpuInputs() = default;

    /// As BlockState::initialize(), where `arrays` come before the pointers of `fields`.
    virtual void initialize(const InitialFields& fields, const GpuFields& arrays) = 0;
    virtual void set_force(const GpuField& field) = 0;
    virtual void set_heat_source(const GpuField& field) = 0;
    /// The force field, and the heat source field, as the block has it: in the arithmetic type. There must be one.
    virtual void force(double* out) const = 0;
    virtual void heat_source(double* out) const = 0;
};

/// The extremes of an array's numbers in a box of the domain, without the reference.
FieldExtremes extremes(const GpuArray& array, const int (&corner)[3], const int (&size)[3]);

/// `start` plus the numbers of the cells of a box, x fastest, each added to the sum so far and rounded; `solid` has a
/// byte for each cell, 0 for those that count, or is null.
double ordered_sum(const GpuArray& array, const int (&corner)[3], const int (&size)[3], const std::uint8_t* solid,
                   double start);

/// Copies the numbers of an array's own cells to the host, less the reference: x fastest, then y, z and the component.
void copy_to_host(const GpuArray& array, double* out);

/// Blocks the calling thread until all work that has been requested of a stream of the driver's has completed.
void wait_for_stream(int ordinal, std::uintptr_t stream);

/// The GPU in whose memory an address lies; -1 for memory of the host or none. `device` is one that the process uses.
int gpu_of(std::uintptr_t address, const std::string& device);

}  // namespace lbm::backend
