// The file of a kernel: a line of what follows, the symbol, the code.
#include "kernel_cache.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace lbm::cuda {
namespace {

std::string head_of(const std::string& key, const KernelImage& image) {
    return "lbmgpu kernel 1 " + std::to_string(key.size()) + " " + fingerprint(image.symbol + image.code) + " " +
           image.symbol + "\n";
}

}  // namespace

// FNV-1a over 64 bits from two different starts.
std::string fingerprint(const std::string& text) {
    std::string digits;
    for (const std::uint64_t start : {0xCBF29CE484222325ULL, 0x84222325CBF29CE4ULL}) {
        std::uint64_t hash = start;
        for (const char c : text) {
            hash = (hash ^ std::uint8_t(c)) * 0x100000001B3ULL;
        }
        char part[17];
        std::snprintf(part, sizeof part, "%016llx", static_cast<unsigned long long>(hash));
        digits += part;
    }
    return digits;
}

std::string KernelCache::path(const std::string& key) const { return folder_ + "/" + fingerprint(key) + ".kernel"; }

std::optional<KernelImage> KernelCache::find(const std::string& key) const {
    if (folder_.empty()) {
        return std::nullopt;
    }
    std::ifstream file(path(key), std::ios::binary);
    std::string head;
    if (!std::getline(file, head)) {
        return std::nullopt;
    }
    KernelImage image;
    image.symbol = head.substr(head.rfind(' ') + 1);
    image.code.assign(std::istreambuf_iterator<char>(file), {});
    if (head + "\n" != head_of(key, image)) {
        return std::nullopt;
    }
    return image;
}

void KernelCache::keep(const std::string& key, const KernelImage& image) const {
    if (folder_.empty()) {
        return;
    }
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    std::string temporary = folder_ + "/.kernel-XXXXXX";
    const int descriptor = mkstemp(temporary.data());
    if (descriptor < 0) {
        return;
    }
    close(descriptor);
    std::ofstream file(temporary, std::ios::binary);
    file << head_of(key, image) << image.code;
    file.close();
    if (file) {
        std::filesystem::rename(temporary, path(key), error);
    }
    if (!file || error) {
        std::filesystem::remove(temporary, error);
    }
}

}  // namespace lbm::cuda
