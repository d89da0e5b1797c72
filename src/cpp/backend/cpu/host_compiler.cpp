// Runs the compiler in a folder of its own, which is removed afterwards.
#include "host_compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

#include "../../process/fork.h"
#include "../custom/collision.h"

namespace lbm::cpu {
namespace {

namespace fs = std::filesystem;
using custom::CompileError;

constexpr std::size_t longest_log = 20000;

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
        words.push_back(word);
    }
    return words;
}

/// A new folder for the user alone, removed by its owner with all that is in it.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (fs::temp_directory_path() / "lbmgpu-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) {
            throw CompileError("collision: no folder to compile it in: " + name + ": " + std::strerror(errno) +
                               "; TMPDIR names another place");
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
    fs::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
        throw CompileError("collision: " + path.string() + " cannot be written; TMPDIR names another place");
    }
}

/// The status of a command as waitpid gives it, its output in a file; nothing where it cannot be started.
std::optional<int> run(std::vector<std::string> command, const fs::path& output) {
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
    pid_t child = 0;
    const int failed = posix_spawnp(&child, words.front(), &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        return std::nullopt;
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;  // somebody else has waited for it
        }
    }
    return status;
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
    std::string key = path == nullptr ? "" : path;
    for (const std::string& word : command_) {
        key += "\n" + word;
    }
    const std::lock_guard<process::Mutex> lock(mutex);
    std::string& version = known[key];
    if (!version.empty()) {
        version_ = version;
        return;
    }
    const TemporaryFolder folder;
    const fs::path output = folder.path() / "version";
    std::vector<std::string> command = command_;
    command.emplace_back("--version");
    const std::optional<int> status = run(command, output);
    std::istringstream lines(content_of(output));
    if (status != 0 || !std::getline(lines, version_) || version_.empty()) {
        throw CompileError("collision: no C++ compiler, which one of your own needs on a CPU: '" + command_.front() +
                           "' does not run" + (is_given ? ", the one that CXX names" : "") +
                           "; install g++ 11 or newer ('apt install g++', 'conda install gxx'), or set CXX to one, or "
                           "use device 'cuda', which needs none");
    }
    version = version_;
}

std::string HostCompiler::shared_object(const std::vector<SourceFile>& files, const std::string& main,
                                        const std::vector<std::string>& options, const std::string& what) const {
    const TemporaryFolder folder;
    for (const SourceFile& file : files) {
        write(folder.path() / file.path, file.text);
    }
    const fs::path object = folder.path() / "kernels.so", log = folder.path() / "log";
    std::vector<std::string> command = command_;
    command.insert(command.end(), options.begin(), options.end());
    for (const std::string& word : {std::string("-I"), folder.path().string(), (folder.path() / main).string(),
                                    std::string("-o"), object.string()}) {
        command.push_back(word);
    }
    const std::optional<int> status = run(command, log);
    std::string made = content_of(object);
    if (status != 0 || made.empty()) {
        std::string said = content_of(log);
        const std::string place = folder.path().string() + "/";  // which is gone when this is read
        for (std::size_t at = said.find(place); at != std::string::npos; at = said.find(place, at)) {
            said.erase(at, place.size());
        }
        if (said.size() > longest_log) {
            said = said.substr(0, longest_log) + "\n...";
        }
        throw CompileError("collision: " + what + " does not compile for CPUs (" + version_ + "):\n" + said);
    }
    return made;
}

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
