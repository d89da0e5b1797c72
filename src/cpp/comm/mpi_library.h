// The MPI library, found at run time: its symbols, its version, and which binary interface it has.
#pragma once

#include <string>

namespace lbm::comm {

enum class MpiInterface { OpenMpi, Mpich, Standard };

class MpiLibrary {
public:
    /// Finds the library that this extension module is linked with. Throws MpiError if there is none.
    explicit MpiLibrary(const std::string& extension_path);

    /// The address of a function or an object; null if the library has no such symbol.
    void* find(const char* symbol) const;
    /// As `find`, but throws MpiError if there is no such symbol.
    void* need(const char* symbol) const;

    template <class Function>
    Function* function(const char* symbol) const {
        return reinterpret_cast<Function*>(need(symbol));
    }

    /// Whether MPI has been initialised and not yet finalised.
    bool running() const;
    /// The binary interface of the library; throws MpiError with its version and path if it is not known.
    MpiInterface interface() const;
    std::string version() const;
    /// The path of the library's file.
    std::string path() const;
    bool cuda_aware() const;

private:
    void* extension_;
    std::string extension_path_;
};

}  // namespace lbm::comm
