// The C++ names of the kernels for a block's stencil, collision and numbers.
#pragma once

#include <string>

#include "../block_state.h"
#include "compiler.h"
#include "kernels/forcing.h"

namespace lbm::cuda {

/// How the update of a block is cut into threads.
struct UpdateShape {
    int lanes;    // neighbouring cells a thread
    int threads;  // most threads a block
    int blocks;   // blocks that a multiprocessor must be able to run at once: bounds the registers
};

/// What has been fastest on an H200 for this kind of block; LBMGPU_UPDATE_SHAPE=lanes,threads,blocks overrides it.
UpdateShape update_shape(const backend::BlockSpec& spec);

/// Whether one thread block can span a row.
bool spans_rows(const backend::BlockSpec& spec, const UpdateShape& shape);

KernelName update_kernel(const backend::BlockSpec& spec, const UpdateShape& shape, Phase phase, Forcing forcing);

/// A kernel of one of the other headers, which are templates of stencil, arithmetic, storage and `more`.
KernelName state_kernel(const backend::BlockSpec& spec, const std::string& header, const std::string& function,
                        const std::string& more = "");

std::string type_name(backend::NumberKind kind);

}  // namespace lbm::cuda
