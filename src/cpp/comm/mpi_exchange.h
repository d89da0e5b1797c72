// The exchange over MPI: each message is a persistent request.
#pragma once

#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mpi_connection.h"

namespace lbm::comm {

enum class Direction { Receive, Send };

/// The persistent request of one message.
template <class Interface>
class MpiRequest {
public:
    MpiRequest(const MpiConnection<Interface>& connection, Direction direction, const Message& message)
        : connection_(connection),
          mpi_(connection.mpi),
          status_ignore_(connection.constants.status_ignore),
          direction_(direction),
          rank_(message.rank),
          tag_(message.tag) {
        if (message.bytes > std::size_t(std::numeric_limits<int>::max())) {
            throw MpiError(what() + ": " + std::to_string(message.bytes) + " bytes are more than MPI's 2147483647");
        }
        const int bytes = int(message.bytes);
        const auto byte = connection.constants.byte;
        const auto comm = connection.comm;
        check(direction == Direction::Receive
                  ? mpi_.receive_init(message.data, bytes, byte, rank_, tag_, comm, &request_)
                  : mpi_.send_init(message.data, bytes, byte, rank_, tag_, comm, &request_));
    }
    MpiRequest(const MpiRequest&) = delete;
    MpiRequest& operator=(const MpiRequest&) = delete;
    /// Cancels instead of waiting, since after an error the other rank may never answer.
    ~MpiRequest() {
        if (!connection_.is_open()) {
            return;
        }
        if (active_ && direction_ == Direction::Receive) {
            mpi_.cancel(&request_);
        }
        mpi_.request_free(&request_);
    }

    void start() {
        check(mpi_.start(&request_));
        active_ = true;
    }
    void wait() {
        const int result = mpi_.wait(&request_, status_ignore_);
        active_ = false;
        check(result);
    }

private:
    std::string what() const {
        return std::string("MPI: message ") + (direction_ == Direction::Receive ? "from" : "to") + " rank " +
               std::to_string(rank_) + " with tag " + std::to_string(tag_);
    }
    void check(int result) const {
        if (result != 0) {
            mpi_.check(result, what());
        }
    }

    const MpiConnection<Interface>& connection_;
    const MpiFunctions<Interface>& mpi_;
    void* status_ignore_;
    Direction direction_;
    int rank_, tag_;
    typename Interface::Request request_{};
    bool active_ = false;
};

template <class Interface>
class MpiExchange final : public Exchange {
public:
    MpiExchange(std::shared_ptr<const MpiConnection<Interface>> connection, const std::vector<Message>& receives,
                const std::vector<Message>& sends)
        : connection_(std::move(connection)) {
        for (const Message& message : receives) {
            receives_.emplace_back(*connection_, Direction::Receive, message);
        }
        for (const Message& message : sends) {
            sends_.emplace_back(*connection_, Direction::Send, message);
        }
    }

    void start_receives() override { start(receives_); }
    void start_sends() override { start(sends_); }
    void finish() override {
        connection_->require_open();
        // Requests are awaited one by one so that an error names its message; the library progresses all of them.
        finish(receives_);
        finish(sends_);
    }

private:
    using Requests =
        std::deque<MpiRequest<Interface>>;  // a deque never moves its elements: MPI may keep the address of a request

    void start(Requests& requests) const {
        connection_->require_open();
        for (MpiRequest<Interface>& request : requests) {
            request.start();
        }
    }
    static void finish(Requests& requests) {
        for (MpiRequest<Interface>& request : requests) {
            request.wait();
        }
    }

    std::shared_ptr<const MpiConnection<Interface>> connection_;
    Requests receives_, sends_;
};

}  // namespace lbm::comm
