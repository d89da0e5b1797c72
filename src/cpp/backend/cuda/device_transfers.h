// Copies of populations by a kernel of a GPU's block.
#pragma once

#include "../transfers.h"
#include "device.h"
#include "kernel_set.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

class DeviceTransfers final : public backend::Transfers {
public:
    /// What the block has, as it is when the transfers are made.
    struct Owner {
        const WorkStream& stream;
        KernelSet& kernels;
        const KernelName name;  // of the kernel
        const Phase& phase;     // of the last step
        const int& now;         // which lattice
    };

    DeviceTransfers(const std::vector<backend::Transfer>& list, Owner owner);

    void run() const override;
    std::size_t bytes() const override;

private:
    Owner owner_;
    DeviceBuffer ends_[2];               // by lattice
    DeviceBuffer runs_[3], singles_[3];  // by phase
};

}  // namespace lbm::cuda
