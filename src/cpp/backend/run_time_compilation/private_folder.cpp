// Opens folders and files, checks them through their descriptors, and reads and writes files.
#include "private_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <random>

namespace lbm::run_time {
namespace {

constexpr std::size_t largest = std::size_t(1) << 28;  // limit of a file in bytes; kernels have less than 1 MiB

/// Owns the descriptor of a file.
class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) {
            close(number_);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int get() const { return number_; }

private:
    int number_;
};

/// Describes what is wrong with the owner or the mode of a file; empty if nothing is.
std::string fault_of(const struct stat& info) {
    const uid_t user = geteuid();
    if (info.st_uid != user && info.st_uid != 0) {
        return "belongs to user " + std::to_string(info.st_uid) + ", not to user " + std::to_string(user);
    }
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return "can be written by others; 'chmod go-w' mends it";
    }
    return "";
}

void make_folders(const std::string& path) {
    for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
        mkdir(path.substr(0, end).c_str(), 0700);
    }
    mkdir(path.c_str(), 0700);
}

bool write_all(int file, const std::string& content) {
    for (std::size_t done = 0; done < content.size();) {
        const ssize_t written = ::write(file, content.data() + done, content.size() - done);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        done += written < 0 ? 0 : std::size_t(written);
    }
    return true;
}

/// A name that no other process or thread uses.
std::string temporary_name() {
    static std::atomic<unsigned> count{0};
    std::random_device random;
    return ".part-" + std::to_string(getpid()) + "-" + std::to_string(count++) + "-" + std::to_string(random());
}

}  // namespace

PrivateFolder::PrivateFolder(const std::string& path, IfMissing missing) {
    if (path.empty()) {
        return;
    }
    if (missing == IfMissing::Create) {
        make_folders(path);
    }
    folder_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0) {
        return;
    }
    struct stat info {};
    const std::string fault = fstat(folder_, &info) == 0 ? fault_of(info) : "cannot be looked at";
    if (!fault.empty()) {
        refusal_ = path + " " + fault;
        close(folder_);
        folder_ = -1;
    }
}

PrivateFolder::~PrivateFolder() {
    if (folder_ >= 0) {
        close(folder_);
    }
}

std::optional<std::string> PrivateFolder::read(const std::string& name) const {
    if (folder_ < 0) {
        return std::nullopt;
    }
    // Non-blocking, because it may be a pipe.
    const Descriptor file(openat(folder_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat info {};
    if (file.get() < 0 || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || !fault_of(info).empty() ||
        std::size_t(info.st_size) > largest) {
        return std::nullopt;
    }
    std::string content(std::size_t(info.st_size), '\0');
    std::size_t done = 0;
    while (done < content.size()) {
        const ssize_t got = ::read(file.get(), content.data() + done, content.size() - done);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return std::nullopt;
        }
        done += got < 0 ? 0 : std::size_t(got);
    }
    return content;
}

void PrivateFolder::write(const std::string& name, const std::string& content) const {
    if (folder_ < 0) {
        return;
    }
    const std::string temporary = temporary_name();
    bool is_whole = false;
    {
        const Descriptor file(
            openat(folder_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (file.get() < 0) {
            return;
        }
        is_whole = write_all(file.get(), content);
    }
    if (!is_whole || renameat(folder_, temporary.c_str(), folder_, name.c_str()) != 0) {
        unlinkat(folder_, temporary.c_str(), 0);
    }
}

}  // namespace lbm::run_time
