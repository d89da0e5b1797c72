// Blocks of other processes of the host that this one's device reaches, as far as both sides can open each other's.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../backend/block_state.h"
#include "../comm/communicator.h"

namespace lbm::engine {

class SharedBlocks {
public:
    SharedBlocks() = default;
    /// Shares the own block and opens the `others`, all by number, for its device. All ranks call it.
    SharedBlocks(int own, backend::BlockState& state, const std::string& device, const std::vector<int>& others,
                 const comm::Communicator& comm);

    /// Null where one of the two cannot be opened.
    const backend::RemoteBlock* find(int other) const;

private:
    std::map<int, std::unique_ptr<backend::RemoteBlock>> opened_;
};

}  // namespace lbm::engine
