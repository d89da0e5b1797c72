// A folder that only its owner can write into: what is read from it, nobody else has put there.
#pragma once

#include <optional>
#include <string>

namespace lbm::cuda {

/// The folder is opened once and looked at through its descriptor, so that what has been checked is what is used,
/// whoever renames what meanwhile. Folder and files must belong to the user or to root, and no group and no others may
/// write into them; links at the place of a file are not followed.
class PrivateFolder {
public:
    enum class IfMissing { Leave, Create };

    PrivateFolder(const std::string& path, IfMissing missing);
    ~PrivateFolder();
    PrivateFolder(const PrivateFolder&) = delete;
    PrivateFolder& operator=(const PrivateFolder&) = delete;

    /// Why the folder is not used, for a user to mend; empty where it is used or not there.
    const std::string& refusal() const { return refusal_; }

    /// The content of a file; nothing where it is not there, cannot be read or may be somebody else's.
    std::optional<std::string> read(const std::string& name) const;
    /// Makes the file, or replaces it, as a whole; others see the whole or nothing. Failures are ignored.
    void write(const std::string& name, const std::string& content) const;

private:
    int folder_ = -1;  // negative: is not used
    std::string refusal_;
};

}  // namespace lbm::cuda
