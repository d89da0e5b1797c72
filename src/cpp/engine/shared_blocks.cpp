// Tells all ranks by what to open this one's blocks, and which of theirs it has opened.
#include "shared_blocks.h"

#include <sstream>

#include "../backend/devices.h"

namespace lbm::engine {
namespace {

/// By the number of the block; without those that cannot be shared.
std::map<int, std::string> handles_of_all(const std::map<int, backend::BlockState*>& own,
                                          const comm::Communicator& comm) {
    std::string text;
    for (const auto& [number, state] : own) {
        const std::string handle = state->share();
        text += handle.empty() ? "" : std::to_string(number) + ' ' + handle + ' ';
    }
    std::map<int, std::string> handles;
    for (const std::string& of_rank : comm.all_gather(text)) {
        std::istringstream words(of_rank);
        std::string handle;
        for (int number = 0; words >> number >> handle;) {
            handles[number] = handle;
        }
    }
    return handles;
}

std::set<SharedBlocks::Pair> pairs_of_all(const std::set<SharedBlocks::Pair>& own, const comm::Communicator& comm) {
    std::string text;
    for (const auto& [number, other] : own) {
        text += std::to_string(number) + ' ' + std::to_string(other) + ' ';
    }
    std::set<SharedBlocks::Pair> pairs;
    for (const std::string& of_rank : comm.all_gather(text)) {
        std::istringstream words(of_rank);
        for (int number = 0, other = 0; words >> number >> other;) {
            pairs.insert({number, other});
        }
    }
    return pairs;
}

}  // namespace

SharedBlocks::SharedBlocks(const Layout& layout, const std::map<int, backend::BlockState*>& own,
                           const std::set<Pair>& pairs, const comm::Communicator& comm) {
    const std::map<int, std::string> handles = handles_of_all(own, comm);
    std::map<std::pair<std::string, int>, const backend::RemoteBlock*> by_device;  // opened once for each
    std::set<Pair> ways;
    for (const auto& [number, other] : pairs) {
        const std::string& device = layout.blocks()[std::size_t(number)].device;
        const auto handle = handles.find(other);
        const auto known = by_device.find({device, other});
        const backend::RemoteBlock* block = known != by_device.end() ? known->second : nullptr;
        if (known == by_device.end() && handle != handles.end()) {
            if (auto remote = backend::open_block(handle->second, device)) {
                block = remote.get();
                opened_.push_back(std::move(remote));
            }
            by_device[{device, other}] = block;
        }
        if (block != nullptr) {
            blocks_[{number, other}] = block;
            ways.insert({number, other});
        }
    }
    const std::set<Pair> all_ways = pairs_of_all(ways, comm);
    std::erase_if(blocks_, [&](const auto& entry) {
        return !all_ways.contains({entry.first.second, entry.first.first});
    });
}

const backend::RemoteBlock* SharedBlocks::find(int own, int other) const {
    const auto found = blocks_.find({own, other});
    return found == blocks_.end() ? nullptr : found->second;
}

}  // namespace lbm::engine
