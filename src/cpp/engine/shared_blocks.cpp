// Tells all ranks by what to open this one's block, and which of theirs it has opened.
#include "shared_blocks.h"

#include <set>
#include <utility>

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

}  // namespace

SharedBlocks::SharedBlocks(int own, backend::BlockState& state, const std::string& device,
                           const std::vector<int>& others, const comm::Communicator& comm) {
    const std::string handle = state.share();
    std::map<int, std::string> handles;
    for (const std::string& text : comm.all_gather(handle.empty() ? "" : std::to_string(own) + ' ' + handle + ' ')) {
        const std::vector<std::string> words = words_of(text);
        if (!words.empty()) {
            handles[std::stoi(words[0])] = words[1];
        }
    }
    std::string reached = std::to_string(own) + ' ';
    for (const int other : others) {
        if (auto block = backend::open_block(handles[other], device)) {
            opened_[other] = std::move(block);
            reached += std::to_string(other) + ' ';
        }
    }
    std::set<int> reaching;  // this block
    for (const std::string& text : comm.all_gather(reached)) {
        const std::vector<std::string> words = words_of(text);
        for (std::size_t k = 1; k < words.size(); ++k) {
            if (std::stoi(words[k]) == own) {
                reaching.insert(std::stoi(words[0]));
            }
        }
    }
    std::erase_if(opened_, [&](const auto& entry) { return !reaching.contains(entry.first); });
}

const backend::RemoteBlock* SharedBlocks::find(int other) const {
    const auto found = opened_.find(other);
    return found == opened_.end() ? nullptr : found->second.get();
}

}  // namespace lbm::engine
