// Compiles, keeps and loads the shared objects of custom collisions.
#include "custom_library.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <map>
#include <mutex>

#include "../../process/fork.h"
#include "../custom/collision.h"
#include "../run_time_compilation/embedded_headers.h"
#include "../run_time_compilation/kernel_cache.h"
#include "../run_time_compilation/sha256.h"
#include "../type_name.h"
#include "host_compiler.h"

namespace lbm::cpu {
namespace {

using backend::BlockSpec;
using custom::CompileError;

constexpr const char* main_file = "kernels.cpp";

/// The engine's headers, which are the same for all kernels.
const std::vector<SourceFile>& headers() {
    static const auto& files = *new std::vector<SourceFile>([] {
        std::vector<SourceFile> all;
        for (const auto* embedded : {&run_time::embedded_headers(), &run_time::embedded_custom_headers()}) {
            for (const run_time::EmbeddedHeader& header : *embedded) {
                all.push_back({header.path, header.text});
            }
        }
        return all;
    }());
    return files;
}

const std::string& headers_digest() {
    static const auto& digest = *new std::string([] {
        std::string all;
        for (const SourceFile& header : headers()) {
            all += header.path + "\n" + header.text + "\n";
        }
        return run_time::sha256(all);
    }());
    return digest;
}

/// The user's text, and the file that is compiled.
std::vector<SourceFile> sources_of(const BlockSpec& spec) {
    std::vector<SourceFile> files = {{custom::header_path, custom::numbered_text(*spec.custom)}};
    const std::string rows = backend::is_hybrid(spec) ? "thermal_rows" : "update_rows";
    std::string text = "#include \"backend/cpu/" + rows + ".h\"\n";
    text += "#include \"backend/custom/strict.h\"\n";
    text += "#include \"" + std::string(custom::header_path) + "\"\n";
    text += "#include \"backend/custom/host_kernel.h\"\n";
    files.push_back({main_file, text});
    return files;
}

std::vector<std::string> options_for(const BlockSpec& spec, const std::string& isa) {
    std::vector<std::string> options = kernel_options(isa);
    const auto define = [&](const std::string& name, const std::string& value) {
        options.push_back("-DLBM_" + name + "=" + value);
    };
    backend::with_stencil(spec.stencil, [&](auto s) { define("STENCIL", backend::spelled<decltype(s)>()); });
    backend::with_numbers(spec.precision, spec.storage, [&](auto numbers) {
        using N = decltype(numbers);
        define("REAL", backend::spelled<typename N::Real>());
        define("STORED", backend::spelled<typename N::Stored>());
    });
    define("COLLISION", custom::type_name(*spec.custom));
    define("UPDATE", backend::is_hybrid(spec) ? "update_thermal_rows" : "update_rows");
    return options;
}

/// The rounding and the flushing of denormal numbers of this thread, which loading a library may change: code that some
/// compilers put into what they make with -ffast-math does.
class KeptArithmetic {
public:
    KeptArithmetic() { std::fegetenv(&environment_); }
    ~KeptArithmetic() { std::fesetenv(&environment_); }
    KeptArithmetic(const KeptArithmetic&) = delete;
    KeptArithmetic& operator=(const KeptArithmetic&) = delete;

private:
    std::fenv_t environment_{};
};

/// A file in memory alone.
class MemoryFile {
public:
    explicit MemoryFile(const std::string& content) : number_(memfd_create("lbmgpu-kernels", MFD_CLOEXEC)) {
        for (std::size_t done = 0; number_ >= 0 && done < content.size();) {
            const ssize_t written = ::write(number_, content.data() + done, content.size() - done);
            if (written <= 0) {
                close(number_);
                number_ = -1;
            } else {
                done += std::size_t(written);
            }
        }
    }
    ~MemoryFile() {
        if (number_ >= 0) {
            close(number_);
        }
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    bool is_whole() const { return number_ >= 0; }

    /// A path that no other file has ever had in this process, as the loader takes another library of the same path for
    /// the first one: a number in zeros and ones, written as / and /., which lead nowhere.
    std::string path() const {
        static std::atomic<unsigned> count{0};
        std::string path = "/proc/self";
        for (unsigned serial = ++count; serial != 0; serial /= 2) {
            path += serial % 2 == 1 ? "/." : "/";
        }
        return path + "/fd/" + std::to_string(number_);
    }

private:
    int number_;
};

/// Loads a shared object from memory, so that what was checked is what runs, wherever files may be run from. Gives no
/// kernels, and says why, if it cannot be loaded.
std::optional<CustomKernels> loaded(const std::string& object, const std::string& digest, std::string& why) {
    const MemoryFile file(object);
    if (!file.is_whole()) {
        why = "no memory";
        return std::nullopt;
    }
    const KeptArithmetic kept;
    void* library = dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        why = dlerror();
        return std::nullopt;
    }
    const auto* name = static_cast<const char*>(dlsym(library, "lbm_custom_digest"));
    const CustomKernels kernels{
        reinterpret_cast<UpdateKernel>(dlsym(library, "lbm_custom_update")),
        reinterpret_cast<decltype(CustomKernels::make_parameters)>(dlsym(library, "lbm_custom_parameters"))};
    if (name == nullptr || name != digest || kernels.update == nullptr || kernels.make_parameters == nullptr) {
        why = "it is not what was compiled";
        dlclose(library);
        return std::nullopt;
    }
    return kernels;
}

}  // namespace

const CustomKernels& custom_kernels(const BlockSpec& spec, const std::string& isa) {
    static process::Mutex mutex;
    static auto& known = *new std::map<std::string, CustomKernels>;  // outlives blocks that still work at the end

    std::vector<SourceFile> sources = sources_of(spec);
    const std::vector<std::string> options = options_for(spec, isa);
    std::string code = "kernels of a custom collision for CPUs\n" + headers_digest() + "\n";
    for (const std::string& option : options) {
        code += option + "\n";
    }
    for (const SourceFile& source : sources) {
        code += source.path + "\n" + source.text + "\n";
    }
    const run_time::KernelCache cache(run_time::cache_folder());
    // Without a compiler the kernels of the one that compiled this code last will do: a home that several machines
    // share has them, and how numbers are rounded does not depend on it.
    std::optional<HostCompiler> compiler;
    std::string identity, no_compiler;
    try {
        compiler.emplace();
        identity = compiler->identity();
    } catch (const CompileError& error) {
        no_compiler = error.what();
        const std::optional<run_time::KernelImage> last = cache.find(code);
        if (!last) {
            throw;
        }
        identity = last->code;
    }
    const std::string key = identity + "\n" + code, digest = run_time::sha256(key);
    const auto find = [&]() -> const CustomKernels* {
        const std::lock_guard<process::Mutex> lock(mutex);
        const auto found = known.find(digest);
        return found == known.end() ? nullptr : &found->second;
    };
    if (const CustomKernels* kernels = find()) {
        return *kernels;
    }
    std::string why;
    std::optional<CustomKernels> kernels;
    if (const std::optional<run_time::KernelImage> kept = cache.find(key)) {
        kernels = loaded(kept->code, digest, why);
    }
    if (!kernels && !compiler) {
        throw CompileError(no_compiler);
    }
    if (!kernels) {  // none kept, or of a machine with another loader
        sources.back().text += "LBM_EXPORTED const char lbm_custom_digest[] = \"" + digest + "\";\n";
        sources.insert(sources.begin(), headers().begin(), headers().end());
        std::string log;
        const std::string object = compiler->shared_object(sources, main_file, options, log);
        if (object.empty()) {
            throw CompileError("collision: '" + spec.custom->name + "' does not compile for CPUs (" +
                               compiler->version() + "):\n" + custom::readable_log(*spec.custom, log));
        }
        kernels = loaded(object, digest, why);
        if (!kernels) {
            throw CompileError("collision: the kernels of '" + spec.custom->name + "' cannot be loaded: " + why);
        }
        cache.keep(key, {object, "kernels"});
        cache.keep(code, {identity, "compiler"});
    }
    const std::lock_guard<process::Mutex> lock(mutex);
    return known.emplace(digest, *kernels).first->second;  // or those of another thread that was faster
}

}  // namespace lbm::cpu
