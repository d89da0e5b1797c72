// The cache of compiled kernels on disk. It is safe with many processes on one file system and against other users; if
// it cannot be used, kernels are just compiled again.
#pragma once

#include <optional>
#include <string>

namespace lbm::run_time {

/// Compiled code, and the name in it by which its kernel is found: of a kernel for GPUs the machine code, or PTX if the
/// compiler does not know the architecture; of a custom collision for CPUs a shared object.
struct KernelImage {
    std::string code;
    std::string symbol;
};

/// The folder of compiled kernels: LBMGPU_CACHE_DIR, or lbmgpu in the user's cache folder; empty if there is neither.
std::string cache_folder();

class KernelCache {
public:
    /// An empty folder name disables the cache; so does a folder to which other users can write (see PrivateFolder).
    explicit KernelCache(std::string folder) : folder_(std::move(folder)) {}

    /// Finds the image of a key, which is the full text of everything on which the image depends. Files whose content
    /// is not as it was written are ignored.
    std::optional<KernelImage> find(const std::string& key) const;
    /// Stores an image atomically: other processes see the whole file or none. Failures are ignored.
    void keep(const std::string& key, const KernelImage& image) const;
    /// Why the folder is refused, so that the user can correct it; empty if it is used or does not exist yet.
    std::string refusal() const;

private:
    std::string folder_;
};

}  // namespace lbm::run_time
