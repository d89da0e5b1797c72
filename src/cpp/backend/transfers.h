// Copies that a block's device makes between two steps, between lattices or a lattice and a buffer.
#pragma once

#include <cstddef>
#include <vector>

#include "link_data.h"
#include "state_kind.h"

namespace lbm::backend {

/// From one piece of memory to another, both within reach of the device.
struct Transfer {
    /// Which end is a buffer in the memory of the host that the copies fill or empty from its beginning, without gaps.
    enum class InHost { Neither, From, To };

    void* from[2];  // by which of a block's lattices is that of now
    void* to[2];
    ByPhase<std::vector<CopyRun>> copies;  // of the last step
    InHost in_host = InHost::Neither;
};

/// Transfers that are made again and again, of one block, which must outlive them.
class Transfers {
public:
    Transfers() = default;
    Transfers(const Transfers&) = delete;
    Transfers& operator=(const Transfers&) = delete;
    virtual ~Transfers() = default;

    /// Makes them as the block's last step wants them.
    virtual void run() const = 0;
    virtual std::size_t bytes() const = 0;
};

}  // namespace lbm::backend
