// The communicator over MPI, as a template over the binary interface of the library.
#include "mpi.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "mpi_connection.h"
#include "mpi_exchange.h"
#include "mpi_library.h"

namespace lbm::comm {
namespace {

/// The offset of each rank's part in the joined text, and the text's end as one more number.
std::vector<int> begins_of(const std::vector<std::int64_t>& lengths) {
    std::vector<int> begins = {0};
    for (const std::int64_t length : lengths) {
        const std::int64_t end = begins.back() + length;
        if (end > std::numeric_limits<int>::max()) {
            throw MpiError("MPI: the texts of all ranks together are longer than MPI's 2147483647 bytes");
        }
        begins.push_back(int(end));
    }
    return begins;
}

template <class Interface>
class MpiCommunicator final : public Communicator {
public:
    MpiCommunicator(const MpiLibrary& library, int fortran_handle)
        : connection_(std::make_shared<const MpiConnection<Interface>>(library, fortran_handle)),
          version_(library.version()),
          cuda_aware_(library.cuda_aware()) {
        mpi().check(mpi().comm_rank(comm(), &rank_), "MPI_Comm_rank");
        mpi().check(mpi().comm_size(comm(), &size_), "MPI_Comm_size");
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    void sum(double* values, int count) const override {
        const auto& c = connection_->constants;
        mpi().check(mpi().all_reduce(c.in_place, values, count, c.float64, c.sum, comm()), "MPI_Allreduce");
    }

    double maximum(double value) const override {
        const auto& c = connection_->constants;
        mpi().check(mpi().all_reduce(c.in_place, &value, 1, c.float64, c.maximum, comm()), "MPI_Allreduce");
        return value;
    }

    std::vector<std::string> all_gather(const std::string& own) const override {
        const std::vector<int> begins = begins_of(all_lengths(std::int64_t(own.size())));
        std::vector<int> counts(std::size_t(size_), 0);
        for (std::size_t k = 0; k < counts.size(); ++k) {
            counts[k] = begins[k + 1] - begins[k];
        }
        std::string joined(std::size_t(begins.back()), '\0');
        const auto byte = connection_->constants.byte;
        mpi().check(mpi().all_gather_v(own.data(), int(own.size()), byte, joined.data(), counts.data(), begins.data(),
                                       byte, comm()),
                    "MPI_Allgatherv");
        std::vector<std::string> texts;
        for (std::size_t k = 0; k < counts.size(); ++k) {
            texts.push_back(joined.substr(std::size_t(begins[k]), std::size_t(counts[k])));
        }
        return texts;
    }

    void barrier() const override { mpi().check(mpi().barrier(comm()), "MPI_Barrier"); }

    std::unique_ptr<Exchange> exchange(const std::vector<Message>& receives,
                                       const std::vector<Message>& sends) const override {
        connection_->require_open();
        return std::make_unique<MpiExchange<Interface>>(connection_, receives, sends);
    }

    std::string library_version() const override { return version_; }
    bool cuda_aware() const override { return cuda_aware_; }

private:
    const MpiFunctions<Interface>& mpi() const { return connection_->mpi; }
    typename Interface::Comm comm() const {
        connection_->require_open();
        return connection_->comm;
    }

    std::vector<std::int64_t> all_lengths(std::int64_t own) const {
        std::vector<std::int64_t> lengths(std::size_t(size_), 0);
        const auto byte = connection_->constants.byte;
        mpi().check(mpi().all_gather(&own, int(sizeof own), byte, lengths.data(), int(sizeof own), byte, comm()),
                    "MPI_Allgather");
        return lengths;
    }

    std::shared_ptr<const MpiConnection<Interface>> connection_;  // shared with the exchanges
    std::string version_;
    bool cuda_aware_;
    int rank_ = 0, size_ = 0;
};

}  // namespace

std::shared_ptr<Communicator> make_mpi(const std::string& extension_path, int fortran_handle) {
    const MpiLibrary library(extension_path);
    if (!library.running()) {
        throw MpiError("MPI: it is not initialised, or finalised already");
    }
    switch (library.interface()) {
        case MpiInterface::OpenMpi: return std::make_shared<MpiCommunicator<OpenMpiInterface>>(library, fortran_handle);
        case MpiInterface::Mpich: return std::make_shared<MpiCommunicator<MpichInterface>>(library, fortran_handle);
        case MpiInterface::Standard:
            return std::make_shared<MpiCommunicator<StandardInterface>>(library, fortran_handle);
    }
    throw std::logic_error("an interface of MPI that make_mpi does not know");
}

}  // namespace lbm::comm
