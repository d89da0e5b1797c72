// Copies for the halo exchange, which a block's device makes from lattice to lattice, or between lattice and buffer.
#pragma once

#include <cstddef>
#include <vector>

#include "link_data.h"
#include "state_kind.h"

namespace lbm::backend {

/// A list of copy runs from one memory range to another, both of which the device can access.
struct Transfer {
    /// Which end is a buffer in host memory; the copies fill or read it contiguously from its beginning.
    enum class InHost { Neither, From, To };

    void* from[2];  // for each of the block's lattices as the current one
    void* to[2];
    ByPhase<std::vector<CopyRun>> copies;  // by the phase of the last step
    InHost in_host = InHost::Neither;
};

/// Transfers of one block that are repeated every step. The block must outlive them.
class Transfers {
public:
    Transfers() = default;
    Transfers(const Transfers&) = delete;
    Transfers& operator=(const Transfers&) = delete;
    virtual ~Transfers() = default;

    /// Performs the transfers for the phase and the lattice of the block's last step.
    virtual void run() const = 0;
    virtual std::size_t bytes() const = 0;
};

}  // namespace lbm::backend
