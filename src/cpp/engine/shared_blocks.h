// Blocks of other processes of the host that this one's devices reach, as far as both sides can open each other's.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../backend/block_state.h"
#include "../comm/communicator.h"
#include "layout.h"

namespace lbm::engine {

class SharedBlocks {
public:
    /// Numbers of an own block and of one of another process.
    using Pair = std::pair<int, int>;

    SharedBlocks() = default;
    /// Shares the own blocks, by number, and opens those of the pairs. All ranks call it.
    SharedBlocks(const Layout& layout, const std::map<int, backend::BlockState*>& own, const std::set<Pair>& pairs,
                 const comm::Communicator& comm);

    /// The other block of a pair; null where one of the two cannot be opened.
    const backend::RemoteBlock* find(int own, int other) const;

private:
    std::map<Pair, const backend::RemoteBlock*> blocks_;
    std::vector<std::unique_ptr<backend::RemoteBlock>> opened_;
};

}  // namespace lbm::engine
