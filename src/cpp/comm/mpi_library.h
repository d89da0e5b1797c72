// The MPI library, found at run time: its symbols, what it says of itself, and which binary interface it has.
#pragma once

#include <string>

namespace lbm::comm {

enum class MpiInterface { OpenMpi, Mpich, Standard };

class MpiLibrary {
public:
    /// The library that this extension module is linked with. Throws MpiError where there is none.
    explicit MpiLibrary(const std::string& extension_path);

    /// The address of a function or an object, null if the library has none of this name.
    void* find(const char* symbol) const;
    /// The same, but throws MpiError if there is none.
    void* need(const char* symbol) const;

    template <class Function>
    Function* function(const char* symbol) const {
        return reinterpret_cast<Function*>(need(symbol));
    }

    /// Whether MPI can be called for more than asking this: initialised, and not finalised.
    bool running() const;
    /// Throws MpiError, with the library's version and path, for an interface that is not known.
    MpiInterface interface() const;
    std::string version() const;
    /// The file of the library.
    std::string path() const;
    bool cuda_aware() const;

private:
    void* extension_;
    std::string extension_path_;
};

}  // namespace lbm::comm
