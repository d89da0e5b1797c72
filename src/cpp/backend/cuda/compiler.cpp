// Finds and loads the NVRTC library, calls it, and turns its failures into exceptions.
#include "compiler.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <sstream>

#include "../../process/fork.h"
#include "../run_time_compilation/embedded_headers.h"
#include "../run_time_compilation/sha256.h"
#include "driver.h"

namespace lbm::cuda {
namespace {

using Program = struct ProgramOfCompiler*;

// Name of the member, symbol in the library, type.
#define LBM_COMPILER_FUNCTIONS(X)                                                           \
    X(version, nvrtcVersion, int(int*, int*))                                               \
    X(arch_count, nvrtcGetNumSupportedArchs, int(int*))                                     \
    X(archs, nvrtcGetSupportedArchs, int(int*))                                             \
    X(create, nvrtcCreateProgram,                                                           \
      int(Program*, const char*, const char*, int, const char* const*, const char* const*)) \
    X(destroy, nvrtcDestroyProgram, int(Program*))                                          \
    X(add_name, nvrtcAddNameExpression, int(Program, const char*))                          \
    X(compile, nvrtcCompileProgram, int(Program, int, const char* const*))                  \
    X(lowered_name, nvrtcGetLoweredName, int(Program, const char*, const char**))           \
    X(log_size, nvrtcGetProgramLogSize, int(Program, std::size_t*))                         \
    X(log, nvrtcGetProgramLog, int(Program, char*))                                         \
    X(cubin_size, nvrtcGetCUBINSize, int(Program, std::size_t*))                            \
    X(cubin, nvrtcGetCUBIN, int(Program, char*))                                            \
    X(ptx_size, nvrtcGetPTXSize, int(Program, std::size_t*))                                \
    X(ptx, nvrtcGetPTX, int(Program, char*))

struct Nvrtc {
    CompilerInfo info;
    std::vector<int> architectures;
#define LBM_MEMBER(member, symbol, ...) std::add_pointer_t<__VA_ARGS__> member;
    LBM_COMPILER_FUNCTIONS(LBM_MEMBER)
#undef LBM_MEMBER
};

process::Mutex mutex;
std::vector<std::string> extra_folders;

/// The versions of the library to try, that of the driver first: an older driver may refuse the code of a newer
/// compiler.
std::vector<int> versions() {
    std::vector<int> all = {13, 12, 11};
    try {
        const int own = driver_version() / 1000;
        std::stable_partition(all.begin(), all.end(), [own](int version) { return version == own; });
    } catch (const CudaMissing&) {  // compiling needs no GPU
    }
    return all;
}

std::optional<Nvrtc> load(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return std::nullopt;
    }
    Nvrtc nvrtc{};
#define LBM_LOAD(member, symbol, ...)                                                          \
    nvrtc.member = reinterpret_cast<std::add_pointer_t<__VA_ARGS__>>(dlsym(library, #symbol)); \
    if (nvrtc.member == nullptr) {                                                             \
        return std::nullopt;                                                                   \
    }
    LBM_COMPILER_FUNCTIONS(LBM_LOAD)
#undef LBM_LOAD
    nvrtc.info.library = path;
    nvrtc.version(&nvrtc.info.major, &nvrtc.info.minor);
    int count = 0;
    nvrtc.arch_count(&count);
    nvrtc.architectures.resize(std::size_t(count));
    nvrtc.archs(nvrtc.architectures.data());
    return nvrtc;
}

Nvrtc find() {
    std::vector<std::string> folders = {""};
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* value = std::getenv(variable)) {
            folders.push_back(std::string(value) + "/lib64/");
        }
    }
    folders.emplace_back("/usr/local/cuda/lib64/");
    for (const std::string& folder : extra_folders) {
        folders.push_back(folder + "/");
    }
    for (const int version : versions()) {
        const std::string file = "libnvrtc.so." + (version == 11 ? std::string("11.2") : std::to_string(version));
        for (const std::string& folder : folders) {
            if (std::optional<Nvrtc> nvrtc = load(folder + file)) {
                return *nvrtc;
            }
        }
    }
    throw CudaMissing(
        "no NVRTC, CUDA's run-time compiler: libnvrtc.so.13 and .12 were not found; install the CUDA toolkit, or "
        "'pip install nvidia-cuda-nvrtc' ('nvidia-cuda-nvrtc-cu12' for a driver of CUDA 12), or use device 'cpu'");
}

const Nvrtc& nvrtc() {
    const std::lock_guard<process::Mutex> lock(mutex);
    static const Nvrtc& instance = *new Nvrtc(find());  // never destroyed: threads may still compile at exit
    return instance;
}

/// The file that a line includes by a quoted name, and nothing of any other line.
///
/// Taken apart by hand: with std::regex each solver on a GPU ended in a segmentation fault under Python 3.12 of Ubuntu
/// 24.04 with g++ 13, and none did without.
std::optional<std::string> quoted_include(const std::string& line) {
    std::istringstream words(line);
    std::string before, name;
    std::getline(words, before, '"');
    before.erase(std::remove_if(before.begin(), before.end(), [](unsigned char c) { return std::isspace(c) != 0; }),
                 before.end());
    if (before != "#include" || words.eof() || !std::getline(words, name, '"') || words.eof()) {
        return std::nullopt;
    }
    return name;
}

/// The text of a header with its quoted includes relative to src/cpp, because NVRTC knows each header by one name only.
std::string with_rooted_includes(const std::string& path, const std::string& content) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::istringstream lines(content);
    std::string text;
    for (std::string line; std::getline(lines, line);) {
        if (const std::optional<std::string> name = quoted_include(line)) {
            line = "#include \"" + (folder / *name).lexically_normal().generic_string() + "\"";
        }
        text += line + "\n";
    }
    return text;
}

struct Sources {
    std::vector<std::string> texts, names;
    std::string all;  // part of the key of the cache
    std::string version;
};

Sources* sources_of(const std::vector<run_time::EmbeddedHeader>& headers) {
    auto* all = new Sources;
    Sources& s = *all;
    for (const run_time::EmbeddedHeader& header : headers) {
        s.texts.push_back(with_rooted_includes(header.path, header.text));
        s.names.emplace_back(header.path);
        s.all += s.names.back() + "\n" + s.texts.back();
    }
    s.version = run_time::sha256(s.all);
    return all;
}

const Sources& sources() {
    static const Sources& instance = *sources_of(run_time::embedded_headers());
    return instance;
}

/// The sources that a kernel with a custom collision has in addition.
const Sources& custom_sources() {
    static const Sources& instance = *sources_of(run_time::embedded_custom_headers());
    return instance;
}

std::string custom_header(const custom::CustomCollision& collision) {
    return with_rooted_includes(custom::header_path, custom::numbered_text(collision));
}

/// The options of the compiler that fix how numbers are rounded: as on the CPU, without contraction to fused
/// multiply-adds and with denormal numbers flushed to zero.
std::vector<std::string> options_for(const std::string& architecture) {
    const std::string digits = architecture.substr(0, 3) == "sm_" ? architecture.substr(3) : "";
    if (digits.empty() || digits.size() > 4 || digits.find_first_not_of("0123456789") != std::string::npos) {
        throw std::invalid_argument("architecture: '" + architecture + "' given, must be such as 'sm_90'");
    }
    std::string target = "-arch=" + architecture;
    const int number = std::stoi(digits);
    const std::vector<int>& known = nvrtc().architectures;
    if (std::find(known.begin(), known.end(), number) == known.end()) {
        int best = 0;
        for (const int other : known) {
            best = other < number ? std::max(best, other) : best;
        }
        if (best == 0) {
            throw CudaError("NVRTC " + std::to_string(nvrtc().info.major) + "." + std::to_string(nvrtc().info.minor) +
                            " does not know GPUs of architecture " + architecture);
        }
        target = "-arch=compute_" + std::to_string(best);
    }
    return {target, "-std=c++20", "-default-device", "-ftz=true", "-fmad=false", "-prec-div=true", "-prec-sqrt=true"};
}

class Compilation {
public:
    Compilation(const KernelName& kernel, const std::vector<std::string>& options)
        : name_(kernel.name), custom_(kernel.custom) {
        const Sources& s = sources();
        std::vector<const char*> texts, names, words;
        const auto add = [&](const std::string& name, const std::string& text) {
            names.push_back(name.c_str());
            texts.push_back(text.c_str());
        };
        for (std::size_t k = 0; k < s.texts.size(); ++k) {
            add(s.names[k], s.texts[k]);
        }
        for (const std::string& option : options) {
            words.push_back(option.c_str());
        }
        const std::string path = "backend/cuda/kernels/" + kernel.header;
        if (std::find(s.names.begin(), s.names.end(), path) == s.names.end()) {
            throw std::invalid_argument("header: '" + kernel.header + "' given, must be one of the kernels");
        }
        std::string source = "#include \"" + path + "\"\n";
        const std::string custom_path = custom::header_path;
        const std::string custom_text = custom_ ? custom_header(*custom_) : "";
        if (custom_) {
            for (std::size_t k = 0; k < custom_sources().texts.size(); ++k) {
                add(custom_sources().names[k], custom_sources().texts[k]);
            }
            add(custom_path, custom_text);
            source += "#include \"backend/custom/device_kernel.h\"\n#include \"" + custom_path + "\"\n";
        }
        require(nvrtc().create(&program_, source.c_str(), "kernel.cu", int(texts.size()), texts.data(), names.data()),
                "nvrtcCreateProgram");
        require(nvrtc().add_name(program_, name_.c_str()), "nvrtcAddNameExpression");
        const int compiled = nvrtc().compile(program_, int(words.size()), words.data());
        if (compiled != 0 && custom_) {
            const CompilerInfo& info = nvrtc().info;
            const std::string said = log();
            nvrtc().destroy(&program_);
            throw custom::CompileError("collision: '" + custom_->name + "' does not compile for GPUs (NVRTC " +
                                       std::to_string(info.major) + "." + std::to_string(info.minor) + "):\n" +
                                       custom::readable_log(*custom_, said));
        }
        require(compiled, "nvrtcCompileProgram");
    }
    ~Compilation() { nvrtc().destroy(&program_); }
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    KernelImage image(bool ptx) const {
        KernelImage image;
        std::size_t size = 0;
        require((ptx ? nvrtc().ptx_size : nvrtc().cubin_size)(program_, &size), "nvrtcGetCUBINSize");
        image.code.resize(size);
        require((ptx ? nvrtc().ptx : nvrtc().cubin)(program_, image.code.data()), "nvrtcGetCUBIN");
        const char* symbol = nullptr;
        require(nvrtc().lowered_name(program_, name_.c_str(), &symbol), "nvrtcGetLoweredName");
        image.symbol = symbol;
        return image;
    }

    std::string log() const {
        std::size_t size = 0;
        nvrtc().log_size(program_, &size);
        std::string text(size, '\0');
        nvrtc().log(program_, text.data());
        while (!text.empty() && text.back() == '\0') {
            text.pop_back();
        }
        return text;
    }

private:
    void require(int result, const char* call) const {
        if (result != 0) {
            throw CudaError(std::string(call) + " failed (" + std::to_string(result) + ") for kernel " + name_ + ":\n" +
                            (program_ == nullptr ? "" : log()));
        }
    }

    std::string name_;
    std::shared_ptr<const custom::CustomCollision> custom_;
    Program program_ = nullptr;
};

}  // namespace

bool KernelOrder::operator()(const KernelName& a, const KernelName& b) const {
    const int names = a.name.compare(b.name), headers = a.header.compare(b.header);
    if (names != 0 || headers != 0 || a.custom == b.custom) {
        return names != 0 ? names < 0 : headers < 0;
    }
    return b.custom != nullptr && (a.custom == nullptr || a.custom->text < b.custom->text);
}

void set_compiler_folders(const std::vector<std::string>& folders) {
    const std::lock_guard<process::Mutex> lock(mutex);
    extra_folders = folders;
}

CompilerInfo compiler_info() { return nvrtc().info; }

KernelImage compile(const KernelName& kernel, const std::string& architecture, const std::string& folder) {
    const std::vector<std::string> options = options_for(architecture);
    const CompilerInfo& info = nvrtc().info;
    std::string key = sources().all + kernel.header + "\n" + kernel.name + "\n" + std::to_string(info.major) + "." +
                      std::to_string(info.minor) + "\n";
    for (const std::string& option : options) {
        key += option + "\n";
    }
    if (kernel.custom) {
        key += custom_sources().all + custom_header(*kernel.custom);
    }
    const run_time::KernelCache cache(folder);
    if (std::optional<KernelImage> kept = cache.find(key)) {
        return *kept;
    }
    const bool ptx = options.front().rfind("-arch=compute", 0) == 0;
    KernelImage image = Compilation(kernel, options).image(ptx);
    cache.keep(key, image);
    return image;
}

std::string code_version() {
    const CompilerInfo& info = nvrtc().info;
    return sources().version + ", NVRTC " + std::to_string(info.major) + "." + std::to_string(info.minor);
}

std::string resource_usage(const KernelName& kernel, const std::string& architecture) {
    std::vector<std::string> options = options_for(architecture);
    options.emplace_back("--ptxas-options=-v");
    return Compilation(kernel, options).log();
}

}  // namespace lbm::cuda
