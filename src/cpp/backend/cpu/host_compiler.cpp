// Runs the compiler in a folder of its own, which is removed afterwards.
#include "host_compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "../../process/fork.h"
#include "../custom/collision.h"

namespace lbm::cpu {
namespace {

namespace fs = std::filesystem;
using custom::CompileError;

std::atomic<void (*)()> interrupt_check = nullptr;

void check_interrupts() {
    if (void (*const check)() = interrupt_check.load()) {
        check();
    }
}

/// The words of a command as a shell has them, with quotes and backslashes, but no variables.
std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    bool is_in_word = false;
    char quote = 0;
    for (std::size_t k = 0; k < text.size(); ++k) {
        const char letter = text[k];
        const bool escapes = letter == '\\' && quote != '\'' && k + 1 < text.size();
        if (quote == 0 && std::string(" \t\n").find(letter) != std::string::npos) {
            is_in_word = false;
            continue;
        }
        if (!is_in_word) {
            words.emplace_back();
            is_in_word = true;
        }
        if (escapes) {
            words.back() += text[++k];
        } else if (quote == 0 && (letter == '\'' || letter == '"')) {
            quote = letter;
        } else if (letter == quote) {
            quote = 0;
        } else {
            words.back() += letter;
        }
    }
    return words;
}

[[noreturn]] void fail_to_write(const std::string& path, const std::string& why) {
    throw CompileError("collision: no place to compile it in: " + path + ": " + why + "; TMPDIR names another folder");
}

/// Removes what processes that were killed have left, once it is older than any compilation lasts.
void remove_old_folders(const fs::path& parent, const std::string& start) {
    std::error_code error;
    for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
        struct stat info {};
        const std::string path = entry->path().string();
        if (entry->path().filename().string().rfind(start, 0) == 0 && lstat(path.c_str(), &info) == 0 &&
            S_ISDIR(info.st_mode) && info.st_uid == geteuid() && std::time(nullptr) - info.st_mtime > 24 * 3600) {
            std::error_code ignored;
            fs::remove_all(path, ignored);
        }
    }
}

/// A new folder for the user alone, removed by its owner with all that is in it.
class TemporaryFolder {
public:
    TemporaryFolder() {
        const char* given = std::getenv("TMPDIR");
        const fs::path parent = given == nullptr || *given == '\0' ? "/tmp" : given;
        const std::string start = "lbmgpu-compile-";
        remove_old_folders(parent, start);
        std::string name = fs::absolute(parent / (start + "XXXXXX")).string();
        if (mkdtemp(name.data()) == nullptr) {
            fail_to_write(name, std::strerror(errno));
        }
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
        fail_to_write(path.string(), error ? error.message() : "cannot be written");
    }
}

/// A process that is killed with its owner.
class Child {
public:
    /// Starts a command, with its output in a file; get() is 0 where that cannot be.
    Child(std::vector<std::string> command, const fs::path& output) {
        std::vector<char*> words;
        words.reserve(command.size() + 1);
        for (std::string& word : command) {
            words.push_back(word.data());
        }
        words.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
        posix_spawnattr_t attributes;  // the compiler waits for processes of its own
        posix_spawnattr_init(&attributes);
        sigset_t defaults;
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGCHLD);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        if (posix_spawnp(&id_, words.front(), &actions, &attributes, words.data(), environ) != 0) {
            id_ = 0;
        }
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
    }
    ~Child() {
        if (id_ != 0) {
            kill(id_, SIGKILL);
            waitpid(id_, nullptr, 0);
        }
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    bool has_started() const { return id_ != 0; }

    /// Its status as waitpid gives it, once it has ended. It is 0 where the process ignores SIGCHLD, or something else
    /// in it has waited for this child: what that has written is all that is left to judge by then.
    std::optional<int> status() {
        int status = 0;
        const pid_t ended = waitpid(id_, &status, WNOHANG);
        if (ended == 0 || (ended < 0 && errno == EINTR)) {
            return std::nullopt;
        }
        id_ = 0;
        return ended < 0 ? 0 : status;
    }

private:
    pid_t id_ = 0;
};

/// Whether a command can be started and ends well, its output in a file.
bool run(const std::vector<std::string>& command, const fs::path& output) {
    Child child(command, output);
    if (!child.has_started()) {
        return false;
    }
    auto pause = std::chrono::microseconds(500);
    std::optional<int> status = child.status();
    while (!status) {
        check_interrupts();
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, std::chrono::microseconds(20000));
        status = child.status();
    }
    check_interrupts();  // which may have ended the command too
    return *status == 0;
}

/// The value of a macro in a list of definitions.
std::string value_of(const std::string& name, const std::string& definitions) {
    std::istringstream lines(definitions);
    const std::string start = "#define " + name + " ";
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind(start, 0) == 0) {
            return line.substr(start.size());
        }
    }
    return "";
}

}  // namespace

HostCompiler::HostCompiler() {
    const char* given = std::getenv("CXX");
    command_ = words_of(given == nullptr ? "" : given);
    const bool is_given = !command_.empty();
    if (!is_given) {
        command_ = {"g++"};
    }
    static process::Mutex mutex;
    static auto& known = *new std::map<std::string, std::string>;  // outlives threads that still compile at the end
    const char* path = std::getenv("PATH");
    for (const std::string& word : command_) {
        identity_ += word + "\n";
    }
    const std::string key = identity_ + (path == nullptr ? "" : path);
    std::string definitions;
    {
        const std::lock_guard<process::Mutex> lock(mutex);
        definitions = known[key];
    }
    if (definitions.empty()) {
        const TemporaryFolder folder;
        const fs::path output = folder.path() / "definitions";
        std::vector<std::string> command = command_;
        command.insert(command.end(), {"-dM", "-E", "-x", "c++", "/dev/null"});
        const bool runs = run(command, output);
        definitions = content_of(output);
        if (!runs || value_of("__VERSION__", definitions).empty()) {
            throw CompileError("collision: a CPU needs a C++ compiler for a collision of your own: '" +
                               command_.front() + "' does not run" + (is_given ? ", the one that CXX names" : "") +
                               "; install g++ 12 or newer ('apt install g++', 'conda install gxx'), or set CXX to one, "
                               "or use device 'cuda', which needs none");
        }
        const std::lock_guard<process::Mutex> lock(mutex);
        known[key] = definitions;
    }
    identity_ += definitions;
    version_ = command_.front() + " " + value_of("__VERSION__", definitions);
    version_.erase(std::remove(version_.begin(), version_.end(), '"'), version_.end());
}

std::string HostCompiler::shared_object(const std::vector<SourceFile>& files, const std::string& main,
                                        const std::vector<std::string>& options, std::string& log) const {
    const TemporaryFolder folder;
    for (const SourceFile& file : files) {
        write(folder.path() / file.path, file.text);
    }
    const fs::path object = folder.path() / "kernels.so", output = folder.path() / "log";
    std::vector<std::string> command = command_;
    command.insert(command.end(), options.begin(), options.end());
    for (const std::string& word : {std::string("-I"), folder.path().string(), (folder.path() / main).string(),
                                    std::string("-o"), object.string()}) {
        command.push_back(word);
    }
    std::string made = run(command, output) ? content_of(object) : "";
    if (made.empty()) {
        log = content_of(output);
        const std::string place = folder.path().string() + "/";  // which is gone when this is read
        for (std::size_t at = log.find(place); at != std::string::npos; at = log.find(place, at)) {
            log.erase(at, place.size());
        }
    }
    return made;
}

void set_interrupt_check(void (*check)()) { interrupt_check = check; }

std::vector<std::string> kernel_options(const std::string& isa) {
    std::string own;
#if defined(LBM_AVX512_FLAGS)
    own = isa == "avx512" ? LBM_AVX512_FLAGS : own;
#endif
#if defined(LBM_AVX2_FLAGS)
    own = isa == "avx2" ? LBM_AVX2_FLAGS : own;
#endif
    own = isa == "baseline" ? LBM_BASELINE_FLAGS : own;
    if (own.empty()) {
        throw std::invalid_argument("isa: this build has no kernels for '" + isa + "'");
    }
    return words_of(std::string(LBM_KERNEL_FLAGS) + " " + own);
}

}  // namespace lbm::cpu
