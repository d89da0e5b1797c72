// Blocks that processes of one host share: a GPU of this process can read the lattice of a block of another process, by
// CUDA's interprocess handles, if each side can open the block of the other.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../backend/block_state.h"
#include "../comm/communicator.h"

namespace lbm::engine {

class SharedBlocks {
public:
    /// A block of this process.
    struct Own {
        int number;  // in the layout
        backend::BlockState& state;
        std::string device;
    };

    SharedBlocks() = default;
    /// Shares the blocks of this process and opens blocks of others for them; `wanted` holds pairs of numbers, of an
    /// own block and of another. Collective: all ranks call it.
    SharedBlocks(const std::vector<Own>& own, const std::vector<std::pair<int, int>>& wanted,
                 const comm::Communicator& comm);

    /// Block `other` as own block `own` reaches it; null unless both can be opened for each other.
    const backend::RemoteBlock* find(int own, int other) const;

private:
    std::map<std::pair<int, int>, std::shared_ptr<backend::RemoteBlock>> opened_;  // by own and other block
};

}  // namespace lbm::engine
