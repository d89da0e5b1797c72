// The ranks of an MPI job, reached through the MPI library that the process has loaded already.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "communicator.h"

namespace lbm::comm {

/// Something that MPI could not do, or a library that is not known; the message names the call and the library's words.
class MpiError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A duplicate of the communicator with this Fortran handle, in the MPI library that mpi4py's extension module at
/// `extension_path` is linked with. All ranks of it call this together, and give the result up together.
///
/// MPI must have been initialised, for at least MPI_THREAD_SERIALIZED where threads call it in turns. Throws MpiError
/// for a library whose binary interface is not known, and for what MPI itself refuses.
std::shared_ptr<Communicator> make_mpi(const std::string& extension_path, int fortran_handle);

}  // namespace lbm::comm
