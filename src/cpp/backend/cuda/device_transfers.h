// Copies of populations by a kernel of a GPU's block.
//
// A kernel that reaches into the memory of the host holds multiprocessors while it waits for the bus, and the interior
// has fewer; so buffers there have a twin in the GPU's memory, which the copy engine fills or empties.
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
        std::size_t element;  // bytes
        KernelSet& kernels;
        const KernelName name;  // of the kernel
        const std::vector<Phase> phases;
        const Phase& phase;  // of the last step
        const int& now;      // which lattice
    };

    DeviceTransfers(const std::vector<backend::Transfer>& list, Owner owner);

    void run() const override;
    std::size_t bytes() const override;

private:
    /// A buffer in the memory of the host, and its twin.
    struct Twin {
        backend::Transfer::InHost in_host;
        void* host;
        DeviceBuffer device;
        backend::ByPhase<std::size_t> bytes;
    };

    struct Copies {
        DeviceBuffer runs, singles;
    };

    const Twin& add_twin(const backend::Transfer& transfer);
    void launch() const;

    Owner owner_;
    std::vector<Twin> twins_;
    DeviceBuffer ends_[2];  // by lattice
    backend::ByPhase<Copies> copies_;
};

}  // namespace lbm::cuda
