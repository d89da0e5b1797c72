// A folder to which only its owner can write, so that nobody else can have put there what is read from it.
#pragma once

#include <optional>
#include <string>

namespace lbm::run_time {

/// Access to such a folder. It is opened once and checked through its descriptor, so that the folder that has been
/// checked is the one that is used, even if it is renamed meanwhile. Folder and files must belong to the user or to
/// root, and must not be writable for the group or others; symbolic links in place of files are not followed.
class PrivateFolder {
public:
    enum class IfMissing { Leave, Create };

    PrivateFolder(const std::string& path, IfMissing missing);
    ~PrivateFolder();
    PrivateFolder(const PrivateFolder&) = delete;
    PrivateFolder& operator=(const PrivateFolder&) = delete;

    /// Why the folder is refused, so that the user can correct it; empty if it is used or does not exist.
    const std::string& refusal() const { return refusal_; }

    /// The content of a file; nothing if it does not exist, cannot be read, or fails the checks.
    std::optional<std::string> read(const std::string& name) const;
    /// Creates or replaces a file atomically: other processes see the whole file or none. Failures are ignored.
    void write(const std::string& name, const std::string& content) const;

private:
    int folder_ = -1;  // descriptor; negative if the folder is not used
    std::string refusal_;
};

}  // namespace lbm::run_time
