// Compiled kernels on disk: safe with many processes on one file system, safe from other users, and of no consequence
// where it cannot be used.
#pragma once

#include <optional>
#include <string>

#include "compiler.h"

namespace lbm::cuda {

class KernelCache {
public:
    /// An empty folder name switches it off; so does a folder that others can write into (see PrivateFolder).
    explicit KernelCache(std::string folder) : folder_(std::move(folder)) {}

    /// `key` is everything that the image depends on, in full. Files that are not as they were written are passed over.
    std::optional<KernelImage> find(const std::string& key) const;
    /// Others see the whole or nothing; failures are ignored.
    void keep(const std::string& key, const KernelImage& image) const;
    /// Why the folder is not used, for a user to mend; empty where it is used or not there yet.
    std::string refusal() const;

private:
    std::string folder_;
};

}  // namespace lbm::cuda
