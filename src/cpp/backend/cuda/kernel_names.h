// The C++ names of the kernels of a block, with the template arguments that follow from its BlockSpec.
#pragma once

#include <string>

#include "compiler.h"
#include "kernels/moment_shape.h"
#include "kernels/update_kinds.h"
#include "launch_configuration.h"

namespace lbm::cuda {

KernelName update_kernel(const backend::BlockSpec& spec, const LaunchConfiguration& configuration,
                         const UpdateKind& kind);

/// The type that computes what a block takes of velocity gradients.
std::string gradient_terms_name(const backend::BlockSpec& spec);

/// The kernel that updates a part of each row, which the multispeed thermal model has.
KernelName part_kernel(const backend::BlockSpec& spec, const LaunchConfiguration& configuration);

/// What an update of a block whose state is moments is compiled for.
struct MomentKernel {
    int steps, cells_per_thread;
    int rows;  // of a tile; in two dimensions lanes beside a strip
    Forcing forcing;
    bool walls;
    bool images;    // whether there are faces with free slip
    bool scaled;    // whether values of walls change in time
    bool cuts;      // whether there are walls that are not half-way to solid cells
    InShared kept;  // what of that which threads keep lies in shared memory
    bool along_y;   // whether warps lie along y
};
KernelName moment_kernel(const backend::BlockSpec& spec, const MomentKernel& kind);

/// The kernel that makes the parameters of a user's collision.
KernelName custom_parameters_kernel(const backend::BlockSpec& spec);

/// The kernel that fills the halo behind walls of the multispeed thermal model.
KernelName wall_columns_kernel(const backend::BlockSpec& spec);

/// A kernel of one of the other headers, whose template parameters are stencil, arithmetic type, storage type and
/// `more`. Of blocks whose state is moments it is that with access to these.
KernelName state_kernel(const backend::BlockSpec& spec, const std::string& header, const std::string& function,
                        const std::string& more = "");

std::string type_name(backend::NumberKind kind);

}  // namespace lbm::cuda
