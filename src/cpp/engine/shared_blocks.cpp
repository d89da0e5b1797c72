// Tells all ranks by what to open this one's blocks, and which of theirs it has opened.
#include "shared_blocks.h"

#include "../backend/devices.h"

namespace lbm::engine {
namespace {

/// The words of a text that ends each of them with a space. Streams of the standard library would take the locale of
/// whichever copy of it the process has, which crashes where two are mixed.
std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t from = 0, to = 0; (to = text.find(' ', from)) != std::string::npos; from = to + 1) {
        words.push_back(text.substr(from, to - from));
    }
    return words;
}

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
        const std::vector<std::string> words = words_of(of_rank);
        for (std::size_t k = 0; k + 1 < words.size(); k += 2) {
            handles[std::stoi(words[k])] = words[k + 1];
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
        const std::vector<std::string> words = words_of(of_rank);
        for (std::size_t k = 0; k + 1 < words.size(); k += 2) {
            pairs.insert({std::stoi(words[k]), std::stoi(words[k + 1])});
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
