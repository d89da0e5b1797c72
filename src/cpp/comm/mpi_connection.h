// A communicator of an MPI library with the library's functions and its errors as exceptions.
#pragma once

#include <string>
#include <type_traits>

#include "../process/fork.h"
#include "mpi.h"
#include "mpi_interfaces.h"

namespace lbm::comm {

// The functions of MPI that are used: name of the member, symbol in the library, type.
#define LBM_MPI_FUNCTIONS(X)                                                                                        \
    X(comm_dup, MPI_Comm_dup, int(Comm, Comm*))                                                                     \
    X(comm_free, MPI_Comm_free, int(Comm*))                                                                         \
    X(comm_rank, MPI_Comm_rank, int(Comm, int*))                                                                    \
    X(comm_size, MPI_Comm_size, int(Comm, int*))                                                                    \
    X(comm_set_errhandler, MPI_Comm_set_errhandler, int(Comm, Errhandler))                                          \
    X(all_reduce, MPI_Allreduce, int(const void*, void*, int, Datatype, Op, Comm))                                  \
    X(all_gather, MPI_Allgather, int(const void*, int, Datatype, void*, int, Datatype, Comm))                       \
    X(all_gather_v, MPI_Allgatherv, int(const void*, int, Datatype, void*, const int*, const int*, Datatype, Comm)) \
    X(barrier, MPI_Barrier, int(Comm))                                                                              \
    X(receive_init, MPI_Recv_init, int(void*, int, Datatype, int, int, Comm, Request*))                             \
    X(send_init, MPI_Send_init, int(const void*, int, Datatype, int, int, Comm, Request*))                          \
    X(start, MPI_Start, int(Request*))                                                                              \
    X(wait, MPI_Wait, int(Request*, void*))                                                                         \
    X(cancel, MPI_Cancel, int(Request*))                                                                            \
    X(request_free, MPI_Request_free, int(Request*))                                                                \
    X(finalized, MPI_Finalized, int(int*))                                                                          \
    X(error_string, MPI_Error_string, int(int, char*, int*))

/// The functions of the library. Each returns 0 or an error code, which `check` turns into an exception.
template <class Interface>
struct MpiFunctions {
    using Comm = typename Interface::Comm;
    using Datatype = typename Interface::Datatype;
    using Op = typename Interface::Op;
    using Errhandler = typename Interface::Errhandler;
    using Request = typename Interface::Request;

    explicit MpiFunctions(const MpiLibrary& library) {
#define LBM_LOAD(member, symbol, ...) member = library.function<__VA_ARGS__>(#symbol);
        LBM_MPI_FUNCTIONS(LBM_LOAD)
#undef LBM_LOAD
    }

    void check(int result, const std::string& what) const {
        if (result == 0) {
            return;
        }
        char words[1024] = {};  // longer than the messages of any library
        int length = 0;
        error_string(result, words, &length);
        throw MpiError(what + ": " + words);
    }

    bool is_finalized() const {
        int answer = 0;
        finalized(&answer);
        return answer != 0;
    }

#define LBM_MEMBER(member, symbol, ...) std::add_pointer_t<__VA_ARGS__> member = nullptr;
    LBM_MPI_FUNCTIONS(LBM_MEMBER)
#undef LBM_MEMBER
};

#undef LBM_MPI_FUNCTIONS

/// A duplicate of a communicator. Its messages never match those of the original, and its functions return error codes
/// instead of ending the process.
template <class Interface>
struct MpiConnection {
    MpiConnection(const MpiLibrary& library, int fortran_handle)
        : mpi(library), constants(Interface::constants(library)) {
        mpi.check(mpi.comm_dup(Interface::comm(library, fortran_handle), &comm), "MPI_Comm_dup");
        mpi.check(mpi.comm_set_errhandler(comm, constants.errors_return), "MPI_Comm_set_errhandler");
    }
    MpiConnection(const MpiConnection&) = delete;
    MpiConnection& operator=(const MpiConnection&) = delete;
    ~MpiConnection() {
        if (is_open()) {
            mpi.comm_free(&comm);
        }
    }

    /// Whether MPI may be called: it may not in a forked child, nor after MPI_Finalize.
    bool is_open() const { return generation == process::generation() && !mpi.is_finalized(); }
    /// Throws if MPI may not be called.
    void require_open() const {
        if (generation != process::generation()) {
            throw process::ForkError("MPI cannot be used in a child of a process that has started it");
        }
        if (mpi.is_finalized()) {
            throw MpiError("MPI: it has been finalised");
        }
    }

    MpiFunctions<Interface> mpi;
    MpiConstants<Interface> constants;
    typename Interface::Comm comm;
    const int generation = process::generation();
};

}  // namespace lbm::comm
