// The binary interfaces of MPI libraries: the types of their handles and the values of their constants.
//
// They repeat the declarations of the libraries' headers, so that building needs no MPI and one build works with all.
#pragma once

#include "mpi_library.h"

namespace lbm::comm {

/// The constants of an interface that are used.
template <class Interface>
struct MpiConstants {
    typename Interface::Datatype byte, float64;
    typename Interface::Op sum, maximum;
    typename Interface::Errhandler errors_return;
    void* in_place;
    void* status_ignore;
};

/// The interface of MPICH and its derivatives: handles are integers, and those of communicators are the same in
/// Fortran.
struct MpichInterface {
    using Comm = int;
    using Datatype = int;
    using Op = int;
    using Errhandler = int;
    using Request = int;

    static MpiConstants<MpichInterface> constants(const MpiLibrary&) {
        return {.byte = 0x4c00010d,
                .float64 = 0x4c00080b,
                .sum = 0x58000003,
                .maximum = 0x58000001,
                .errors_return = 0x54000001,
                .in_place = reinterpret_cast<void*>(0xffffffffffffffff),
                .status_ignore = reinterpret_cast<void*>(1)};
    }
    static Comm comm(const MpiLibrary&, int fortran_handle) { return fortran_handle; }
};

/// Handles as pointers to incomplete types, for the interfaces below.
struct PointerHandles {
    using Comm = struct CommOfLibrary*;
    using Datatype = struct DatatypeOfLibrary*;
    using Op = struct OpOfLibrary*;
    using Errhandler = struct ErrhandlerOfLibrary*;
    using Request = struct RequestOfLibrary*;
};

/// The interface of Open MPI: constants are addresses of objects in the library.
struct OpenMpiInterface : PointerHandles {
    static MpiConstants<OpenMpiInterface> constants(const MpiLibrary& library) {
        return {.byte = static_cast<Datatype>(library.need("ompi_mpi_byte")),
                .float64 = static_cast<Datatype>(library.need("ompi_mpi_double")),
                .sum = static_cast<Op>(library.need("ompi_mpi_op_sum")),
                .maximum = static_cast<Op>(library.need("ompi_mpi_op_max")),
                .errors_return = static_cast<Errhandler>(library.need("ompi_mpi_errors_return")),
                .in_place = reinterpret_cast<void*>(1),
                .status_ignore = nullptr};
    }
    static Comm comm(const MpiLibrary& library, int fortran_handle) {
        return library.function<Comm(int)>("MPI_Comm_f2c")(fortran_handle);
    }
};

/// The standard interface of MPI 5: constants are small integers cast to pointers.
struct StandardInterface : PointerHandles {
    static MpiConstants<StandardInterface> constants(const MpiLibrary&) {
        return {.byte = reinterpret_cast<Datatype>(0x247),
                .float64 = reinterpret_cast<Datatype>(0x214),
                .sum = reinterpret_cast<Op>(0x21),
                .maximum = reinterpret_cast<Op>(0x23),
                .errors_return = reinterpret_cast<Errhandler>(0x143),
                .in_place = reinterpret_cast<void*>(1),
                .status_ignore = nullptr};
    }
    static Comm comm(const MpiLibrary& library, int fortran_handle) {
        return library.function<Comm(int)>("MPI_Comm_fromint")(fortran_handle);
    }
};

}  // namespace lbm::comm
