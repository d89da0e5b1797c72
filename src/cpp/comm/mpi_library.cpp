// Finds the MPI library that the process has loaded and determines its binary interface.
#include "mpi_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include <algorithm>
#include <array>

#include "mpi.h"

namespace lbm::comm {
namespace {

// MPI_MAX_LIBRARY_VERSION_STRING: the standard binary interface has 8192, which no library exceeds.
constexpr std::size_t version_bytes = 8192;

/// MPICH and the libraries with its binary interface, by words in their version texts.
constexpr std::array<const char*, 4> mpich_family = {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation MPI"};

bool is_of_mpich_family(const std::string& version) {
    return std::ranges::any_of(mpich_family, [&](const char* word) { return version.find(word) != std::string::npos; });
}

}  // namespace

MpiLibrary::MpiLibrary(const std::string& extension_path)
    : extension_(dlopen(extension_path.c_str(), RTLD_LAZY | RTLD_LOCAL)), extension_path_(extension_path) {
    // The module is loaded already, so this only returns its handle; it is never closed.
    if (extension_ == nullptr) {
        throw MpiError("MPI: mpi4py's extension module cannot be loaded: " + std::string(dlerror()));
    }
    need("MPI_Get_library_version");
}

void* MpiLibrary::find(const char* symbol) const { return dlsym(extension_, symbol); }

void* MpiLibrary::need(const char* symbol) const {
    void* address = find(symbol);
    if (address == nullptr) {
        throw MpiError("MPI: " + std::string(symbol) + " is not in the library that " + extension_path_ +
                       " is linked with");
    }
    return address;
}

bool MpiLibrary::running() const {
    int initialized = 0, finalized = 0;
    function<int(int*)>("MPI_Initialized")(&initialized);
    function<int(int*)>("MPI_Finalized")(&finalized);
    return initialized != 0 && finalized == 0;
}

MpiInterface MpiLibrary::interface() const {
    // MPICH has this function in its own interface too, where it returns version -1.
    if (auto* abi_version = reinterpret_cast<int (*)(int*, int*)>(find("MPI_Abi_get_version"))) {
        int major = -1, minor = -1;
        if (abi_version(&major, &minor) == 0 && major > 0) {
            return MpiInterface::Standard;
        }
    }
    if (find("ompi_mpi_comm_world") != nullptr) {
        return MpiInterface::OpenMpi;
    }
    if (is_of_mpich_family(version())) {
        return MpiInterface::Mpich;
    }
    throw MpiError(
        "MPI: the binary interface of this library is not known: '" + version() + "' (" + path() +
        "); Open MPI, MPICH and its relatives (Intel MPI, MVAPICH, Cray MPICH, ParaStation MPI) and libraries "
        "with the standard interface of MPI 5 work");
}

std::string MpiLibrary::version() const {
    std::string text(version_bytes, '\0');
    int length = 0;
    function<int(char*, int*)>("MPI_Get_library_version")(text.data(), &length);
    text.resize(std::size_t(length));
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) {
        text.pop_back();
    }
    return text;
}

std::string MpiLibrary::path() const {
    Dl_info info{};
    const bool found = dladdr(need("MPI_Get_library_version"), &info) != 0 && info.dli_fname != nullptr;
    return found ? info.dli_fname : "unknown path";
}

bool MpiLibrary::cuda_aware() const {
    if (const char* given = std::getenv("LBMGPU_CUDA_AWARE_MPI")) {
        return std::string(given) == "1";
    }
    if (auto* query = reinterpret_cast<int (*)()>(find("MPIX_Query_cuda_support"))) {  // Open MPI, MVAPICH, new MPICH
        return query() == 1;
    }
    if (auto* query = reinterpret_cast<int (*)(int, int*)>(find("MPIX_GPU_query_support"))) {  // MPICH, Cray
        constexpr int cuda = 0;
        int supported = 0;
        return query(cuda, &supported) == 0 && supported != 0;
    }
    return false;
}

}  // namespace lbm::comm
