// Compiles, keeps and loads the shared objects of custom collisions.
#include "custom_library.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

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

/// The sources of the kernels, the user's text among them.
std::vector<SourceFile> sources_of(const BlockSpec& spec) {
    std::vector<SourceFile> files;
    for (const auto* headers : {&run_time::embedded_headers(), &run_time::embedded_custom_headers()}) {
        for (const run_time::EmbeddedHeader& header : *headers) {
            files.push_back({header.path, header.text});
        }
    }
    files.push_back({custom::header_path, custom::numbered_text(*spec.custom)});
    const std::string rows = backend::is_hybrid(spec) ? "thermal_rows" : "update_rows";
    std::string text = "#include \"backend/cpu/" + rows + ".h\"\n";
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

/// Loads a shared object from memory, so that what was checked is what runs, wherever files may be run from.
CustomKernels loaded(const std::string& object, const std::string& digest) {
    const int file = memfd_create("lbmgpu-kernels", MFD_CLOEXEC);
    for (std::size_t done = 0; file >= 0 && done < object.size();) {
        const ssize_t written = ::write(file, object.data() + done, object.size() - done);
        if (written <= 0) {
            throw CompileError("collision: no memory for its kernels");
        }
        done += std::size_t(written);
    }
    // The file stays open: the loader takes another library of the same path for the first one.
    void* library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw CompileError(std::string("collision: its kernels cannot be loaded: ") + dlerror());
    }
    const auto* name = static_cast<const char*>(dlsym(library, "lbm_custom_digest"));
    const CustomKernels kernels{
        reinterpret_cast<UpdateKernel>(dlsym(library, "lbm_custom_update")),
        reinterpret_cast<decltype(CustomKernels::make_parameters)>(dlsym(library, "lbm_custom_parameters"))};
    if (name == nullptr || name != digest || kernels.update == nullptr || kernels.make_parameters == nullptr) {
        throw CompileError("collision: its kernels cannot be loaded: another library lies in their place");
    }
    return kernels;
}

}  // namespace

const CustomKernels& custom_kernels(const BlockSpec& spec, const std::string& isa) {
    static process::Mutex mutex;
    static auto& known = *new std::map<std::string, CustomKernels>;  // outlives blocks that still work at the end

    const HostCompiler compiler;
    std::vector<SourceFile> sources = sources_of(spec);
    const std::vector<std::string> options = options_for(spec, isa);
    std::string key = "kernels of a custom collision for CPUs\n" + compiler.version() + "\n";
    for (const std::string& option : options) {
        key += option + "\n";
    }
    for (const SourceFile& source : sources) {
        key += source.path + "\n" + source.text + "\n";
    }
    const std::string digest = run_time::sha256(key);
    {
        const std::lock_guard<process::Mutex> lock(mutex);
        if (const auto found = known.find(digest); found != known.end()) {
            return found->second;
        }
    }
    const run_time::KernelCache cache(run_time::cache_folder());
    const std::optional<run_time::KernelImage> kept = cache.find(key);
    std::string object;
    if (kept) {
        object = kept->code;
    } else {
        sources.back().text += "LBM_EXPORTED const char lbm_custom_digest[] = \"" + digest + "\";\n";
        object = compiler.shared_object(sources, main_file, options, "'" + spec.custom->name + "'");
        cache.keep(key, {object, "kernels"});
    }
    const std::lock_guard<process::Mutex> lock(mutex);
    const auto found = known.find(digest);  // made by another thread meanwhile
    return found != known.end() ? found->second : known.emplace(digest, loaded(object, digest)).first->second;
}

}  // namespace lbm::cpu
