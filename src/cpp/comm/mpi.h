// The communicator over MPI, through the MPI library that the process has already loaded.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "communicator.h"

namespace lbm::comm {

/// A call of MPI failed, or the library is not known. The message names the call and gives the library's own text.
class MpiError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Duplicates the communicator with this Fortran handle, in the MPI library that mpi4py's extension module at
/// `extension_path` is linked with. Collective: all of its ranks call this together, and destroy the result together.
///
/// MPI must have been initialised, with at least MPI_THREAD_SERIALIZED if several threads call it in turn. Throws
/// MpiError for a library whose binary interface is not known, and for errors of MPI itself.
std::shared_ptr<Communicator> make_mpi(const std::string& extension_path, int fortran_handle);

}  // namespace lbm::comm
