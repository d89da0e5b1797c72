// Blocks of other processes of the host that this one's devices reach, as far as both sides can open each other's.
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
    /// Shares the own blocks and opens others for them: `wanted` holds the numbers of an own block and another. All
    /// ranks call it.
    SharedBlocks(const std::vector<Own>& own, const std::vector<std::pair<int, int>>& wanted,
                 const comm::Communicator& comm);

    /// A block as an own one reaches it; null where one of the two cannot be opened for the other.
    const backend::RemoteBlock* find(int own, int other) const;

private:
    std::map<std::pair<int, int>, std::shared_ptr<backend::RemoteBlock>> opened_;  // by the own and the other
};

}  // namespace lbm::engine
