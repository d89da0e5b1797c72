// Compiled kernels on disk: safe with many processes on one file system, and of no consequence where it cannot be used.
#pragma once

#include <optional>
#include <string>

#include "compiler.h"

namespace lbm::cuda {

class KernelCache {
public:
    /// An empty folder name switches it off.
    explicit KernelCache(std::string folder) : folder_(std::move(folder)) {}

    /// `key` is everything that the image depends on, in full.
    std::optional<KernelImage> find(const std::string& key) const;
    /// Writes a file of its own and renames it, so that others see the whole or nothing; failures are ignored.
    void keep(const std::string& key, const KernelImage& image) const;

private:
    std::string path(const std::string& key) const;

    std::string folder_;
};

/// 128 bits that tell texts apart, as 32 digits.
std::string fingerprint(const std::string& text);

}  // namespace lbm::cuda
