// Transfers of the halo exchange by a block on a GPU.
//
// A kernel that accesses host memory occupies multiprocessors while it waits for the bus, which the update of the
// interior needs. So each host buffer has a twin in the GPU's memory, from or to which the copy engine copies. Where
// thread blocks of the interior's update leave no room on a multiprocessor for others, the copy engine also copies
// between the lattices of two GPUs, as far as the copies are boxes of memory: a kernel would wait for the end of a
// thread block, which may take a third of the step, and keep from the multiprocessor what comes next.
#pragma once

#include <vector>

#include "../transfers.h"
#include "device.h"
#include "kernel_set.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

class DeviceTransfers final : public backend::Transfers {
public:
    /// What the transfers use of their block, which must outlive them; `phase` and `now` are read at each run().
    struct Owner {
        const WorkStream& stream;
        std::size_t element;  // size in bytes of a stored number
        KernelSet& kernels;
        const KernelName name;  // of the transfer kernel
        const std::vector<Phase> phases;
        const Phase& phase;  // of the last step
        const int& now;      // index of the current lattice
        bool prefers_copy_engine = false;
    };

    DeviceTransfers(const std::vector<backend::Transfer>& list, Owner owner);

    void run() const override;
    std::size_t bytes() const override;

private:
    /// A host buffer, and its twin in the GPU's memory.
    struct Twin {
        backend::Transfer::InHost in_host;
        void* host;
        DeviceBuffer device;
        backend::ByPhase<std::size_t> bytes;
    };

    struct Copies {
        DeviceBuffer runs, singles;
        std::vector<BoxCopy> boxes[2];  // for each lattice as the current one
    };

    const Twin& add_twin(const backend::Transfer& transfer);
    void launch() const;

    Owner owner_;
    std::vector<Twin> twins_;
    DeviceBuffer ends_[2];  // for each lattice as the current one
    backend::ByPhase<Copies> copies_;
};

}  // namespace lbm::cuda
