// Gathers the handles of the blocks of all ranks, opens the wanted ones, and keeps those that were opened on both
// sides.
#include "shared_blocks.h"

#include <algorithm>
#include <set>
#include <utility>

#include "../backend/devices.h"

namespace lbm::engine {
namespace {

/// Splits a text into its words, each of which ends with a space. A stream of the standard library would use the locale
/// of whichever copy of that library the process has loaded, and crashes where two copies are mixed.
std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t from = 0, to = 0; (to = text.find(' ', from)) != std::string::npos; from = to + 1) {
        words.push_back(text.substr(from, to - from));
    }
    return words;
}

}  // namespace

SharedBlocks::SharedBlocks(const std::vector<Own>& own, const std::vector<std::pair<int, int>>& wanted,
                           const comm::Communicator& comm) {
    std::string shared;
    std::map<int, std::string> devices;
    for (const Own& block : own) {
        devices[block.number] = block.device;
        if (const std::string handle = block.state.share(); !handle.empty()) {
            shared += std::to_string(block.number) + ' ' + handle + ' ';
        }
    }
    std::map<int, std::string> handles;
    for (const std::string& text : comm.all_gather(shared)) {
        const std::vector<std::string> words = words_of(text);
        for (std::size_t k = 0; k + 1 < words.size(); k += 2) {
            backend::check_shared_block(words[k + 1]);  // all ranks check all, so that one does not fail alone
            handles[std::stoi(words[k])] = words[k + 1];
        }
    }
    std::map<std::pair<std::string, int>, std::shared_ptr<backend::RemoteBlock>>
        by_device;  // a device opens a block once
    std::string openings;
    for (const auto& [number, other] : wanted) {
        const auto [entry, is_new] = by_device.try_emplace({devices[number], other});
        if (is_new) {
            entry->second = backend::open_block(handles[other], devices[number]);
        }
        if (entry->second != nullptr) {
            opened_[{number, other}] = entry->second;
            openings += std::to_string(number) + ' ' + std::to_string(other) + ' ';
        }
    }
    std::set<std::pair<int, int>> both;
    for (const std::string& text : comm.all_gather(openings)) {
        const std::vector<std::string> words = words_of(text);
        for (std::size_t k = 0; k + 1 < words.size(); k += 2) {
            both.insert({std::stoi(words[k + 1]), std::stoi(words[k])});
        }
    }
    std::erase_if(opened_, [&](const auto& entry) { return !both.contains(entry.first); });
    for (const Own& block : own) {
        if (std::none_of(opened_.begin(), opened_.end(),
                         [&](const auto& entry) { return entry.first.first == block.number; })) {
            block.state.unshare();
        }
    }
}

const backend::RemoteBlock* SharedBlocks::find(int own, int other) const {
    const auto found = opened_.find({own, other});
    return found == opened_.end() ? nullptr : found->second.get();
}

}  // namespace lbm::engine
