// The emulated NVRTC: it has g++ compile kernels to a library for the host.
//
// The "machine code" that it hands out is that library behind a head that says how long it is.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <semaphore>
#include <sstream>
#include <string>
#include <vector>

#include "code_image.h"

extern char** environ;

namespace emulated {
namespace {

constexpr int succeeded = 0, invalid_program = 4, failed_to_compile = 6, unknown_name = 10;
constexpr int architecture = 90;

/// Each compilation takes up to a few hundred MB, and the engine asks for many at once.
std::counting_semaphore<> places(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));

/// A folder that is removed with its content.
class TemporaryFolder {
public:
    TemporaryFolder() : path_(std::filesystem::temp_directory_path() / "emulated-nvrtc-XXXXXX") {
        std::string name = path_.string();
        if (mkdtemp(name.data()) == nullptr) {
            throw std::runtime_error("no temporary folder can be made");
        }
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

std::string content_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

/// The text with calls in place of inline PTX: `asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(y));` becomes
/// `emulated::cvt_f32_f16(x, y);`. What device_language.h has no function for does not compile.
std::string without_assembly(const std::string& text) {
    static const std::regex statement(R"re(\basm( volatile)?\("([\w.]+)[^"]*"([^;]*)\);)re");
    static const std::regex operand(R"re("=?\w"\((\w+)\))re");
    std::string result;
    auto rest = text.cbegin();
    for (std::sregex_iterator it(text.begin(), text.end(), statement), end; it != end; ++it) {
        const std::smatch& found = *it;
        std::string function = found[2], operands = found[3], arguments;
        std::replace(function.begin(), function.end(), '.', '_');
        for (std::sregex_iterator own(operands.begin(), operands.end(), operand); own != end; ++own) {
            arguments += (arguments.empty() ? "" : ", ") + (*own)[1].str();
        }
        result.append(rest, found[0].first).append("::emulated::" + function + "(" + arguments + ");");
        rest = found[0].second;
    }
    return result.append(rest, text.cend());
}

/// The text with arrays of a size for those whose size only a launch knows.
std::string with_sized_arrays(const std::string& text) {
    static const std::regex array(R"re(extern __shared__ (\w+) (\w+)\[\];)re");
    return std::regex_replace(text, array, "__shared__ $1 $2[(256 << 10) / sizeof($1)];");
}

int run(const std::vector<std::string>& words, const std::filesystem::path& output) {
    std::vector<char*> arguments;
    for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t process = 0;
    int status = posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (status == 0) {
        while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
        }
    }
    return status;
}

}  // namespace

struct Program {
    std::string source;
    std::vector<std::pair<std::string, std::string>> headers;  // name and text
    std::vector<std::string> names, symbols;
    std::string log, image;

    bool compile() {
        const TemporaryFolder folder;
        const auto file = [&](const std::string& name) { return folder.path() / name; };
        for (const auto& [name, text] : headers) {
            write(file("include") / name, with_sized_arrays(without_assembly(text)));
        }
        std::string all = "#include \"device_language.h\"\n" + source;
        for (std::size_t k = 0; k < names.size(); ++k) {
            symbols.push_back("emulated_kernel_" + std::to_string(k));
            all += "extern \"C\" __attribute__((visibility(\"default\"))) const emulated::KernelEntry " + symbols[k] +
                   " = emulated::Entry<(&" + names[k] + ")>::described(\"" + names[k] + "\");\n";
        }
        write(file("kernel.cpp"), all);
        const char* compiler = std::getenv("CXX");
        // Rounding is that of NVRTC's options -fmad=false -prec-div=true -prec-sqrt=true; the driver flushes denormals.
        // Shared variables must not be those of another library with the same kernel, hence the last two.
        const std::vector<std::string> command = {compiler == nullptr ? "g++" : compiler,
                                                  "-std=c++20",
                                                  "-O1",
                                                  "-w",
                                                  "-ffp-contract=off",
                                                  "-fno-math-errno",
                                                  "-fno-strict-aliasing",
                                                  "-fPIC",
                                                  "-shared",
                                                  "-fno-gnu-unique",
                                                  "-fvisibility=hidden",
                                                  "-D__CUDACC__",
                                                  "-D__CUDACC_RTC__",
                                                  "-D__CUDA_ARCH__=" + std::to_string(10 * architecture),
                                                  "-I" + file("include").string(),
                                                  "-I" EMULATED_CUDA_FOLDER,
                                                  file("kernel.cpp").string(),
                                                  "-o",
                                                  file("kernel.so").string()};
        places.acquire();
        const int status = run(command, file("log"));
        places.release();
        log = content_of(file("log"));
        image = status == 0 ? image_of(content_of(file("kernel.so"))) : "";
        return status == 0;
    }
};

}  // namespace emulated

using emulated::Program;

extern "C" {

/// No version that there is, so that the engine's cache never takes these kernels for those of a GPU.
int nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 99;
    return emulated::succeeded;
}

int nvrtcGetNumSupportedArchs(int* count) {
    *count = 1;
    return emulated::succeeded;
}

int nvrtcGetSupportedArchs(int* all) {
    *all = emulated::architecture;
    return emulated::succeeded;
}

int nvrtcCreateProgram(Program** program, const char* source, const char*, int headers, const char* const* texts,
                       const char* const* names) {
    *program = new Program{source, {}, {}, {}, {}, {}};
    for (int k = 0; k < headers; ++k) {
        (*program)->headers.emplace_back(names[k], texts[k]);
    }
    return emulated::succeeded;
}

int nvrtcDestroyProgram(Program** program) {
    delete *program;
    *program = nullptr;
    return emulated::succeeded;
}

int nvrtcAddNameExpression(Program* program, const char* name) {
    program->names.emplace_back(name);
    return emulated::succeeded;
}

int nvrtcCompileProgram(Program* program, int, const char* const*) {
    try {
        return program->compile() ? emulated::succeeded : emulated::failed_to_compile;
    } catch (const std::exception& error) {
        program->log = error.what();
        return emulated::failed_to_compile;
    }
}

int nvrtcGetLoweredName(Program* program, const char* name, const char** symbol) {
    for (std::size_t k = 0; k < program->symbols.size(); ++k) {
        if (program->names[k] == name) {
            *symbol = program->symbols[k].c_str();
            return emulated::succeeded;
        }
    }
    return emulated::unknown_name;
}

int nvrtcGetProgramLogSize(Program* program, std::size_t* size) {
    *size = program->log.size() + 1;
    return emulated::succeeded;
}

int nvrtcGetProgramLog(Program* program, char* log) {
    std::memcpy(log, program->log.c_str(), program->log.size() + 1);
    return emulated::succeeded;
}

int nvrtcGetCUBINSize(Program* program, std::size_t* size) {
    *size = program->image.size();
    return program->image.empty() ? emulated::invalid_program : emulated::succeeded;
}

int nvrtcGetCUBIN(Program* program, char* image) {
    std::memcpy(image, program->image.data(), program->image.size());
    return emulated::succeeded;
}

/// The one architecture that there is has machine code.
int nvrtcGetPTXSize(Program*, std::size_t*) { return emulated::invalid_program; }
int nvrtcGetPTX(Program*, char*) { return emulated::invalid_program; }
}
