// Reads and writes the files of cached kernels: a header line with digests and the symbol, followed by the code.
#include "kernel_cache.h"

#include <cstdlib>

#include "private_folder.h"
#include "sha256.h"

namespace lbm::run_time {
namespace {

/// The header line: the digest of the key, which detects renamed files, and the digest of the rest of the file, which
/// detects changed ones.
std::string head_of(const std::string& key_digest, const KernelImage& image) {
    const std::string symbol = std::to_string(image.symbol.size()) + " " + image.symbol;
    return "lbmgpu kernel 2 " + key_digest + " " + sha256(symbol + "\n" + image.code) + " " + symbol + "\n";
}

}  // namespace

std::string cache_folder() {
    if (const char* own = std::getenv("LBMGPU_CACHE_DIR")) {
        return own;
    }
    if (const char* users = std::getenv("XDG_CACHE_HOME"); users != nullptr && *users != '\0') {
        return std::string(users) + "/lbmgpu";
    }
    const char* home = std::getenv("HOME");
    return home == nullptr ? "" : std::string(home) + "/.cache/lbmgpu";
}

std::optional<KernelImage> KernelCache::find(const std::string& key) const {
    const std::string digest = sha256(key);
    const std::optional<std::string> file =
        PrivateFolder(folder_, PrivateFolder::IfMissing::Leave).read(digest + ".kernel");
    const std::size_t end = file ? file->find('\n') : std::string::npos;
    if (end == std::string::npos) {
        return std::nullopt;
    }
    const std::size_t space = file->rfind(' ', end);
    if (space == std::string::npos) {
        return std::nullopt;
    }
    const KernelImage image{file->substr(end + 1), file->substr(space + 1, end - space - 1)};
    if (file->compare(0, end + 1, head_of(digest, image)) != 0) {
        return std::nullopt;
    }
    return image;
}

void KernelCache::keep(const std::string& key, const KernelImage& image) const {
    const std::string digest = sha256(key);
    PrivateFolder(folder_, PrivateFolder::IfMissing::Create)
        .write(digest + ".kernel", head_of(digest, image) + image.code);
}

std::string KernelCache::refusal() const { return PrivateFolder(folder_, PrivateFolder::IfMissing::Leave).refusal(); }

}  // namespace lbm::run_time
