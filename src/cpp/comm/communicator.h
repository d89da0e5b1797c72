// The engine's interface to other processes: reductions over all ranks, and persistent exchanges of messages.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lbm::comm {

/// A message: bytes at a fixed address that are sent to another rank or received from it.
struct Message {
    void* data;
    std::size_t bytes;
    int rank;
    int tag;
};

/// A persistent exchange: a set of messages that is set up once and then exchanged repeatedly, each time by
/// start_receives, start_sends, finish.
class Exchange {
public:
    Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    /// The buffers of the messages must still exist. Messages that were started and not finished are cancelled.
    virtual ~Exchange() = default;

    /// Until `finish` the receive buffers belong to the exchange.
    virtual void start_receives() = 0;
    /// Until `finish` the contents of the send buffers must not change.
    virtual void start_sends() = 0;
    /// Returns when all started receives and sends are complete.
    virtual void finish() = 0;
};

/// The ranks of a run. Members that are collective, which all ranks must call together, say so.
class Communicator {
public:
    Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// The pretended name of this rank's host: ranks of different names share no memory, even on one machine. Empty
    /// where nothing is pretended.
    const std::string& pretended_host() const { return pretended_host_; }
    void pretend_host(std::string name) { pretended_host_ = std::move(name); }
    /// Replaces values[0 .. count) by their sums over all ranks. Collective.
    virtual void sum(double* values, int count) const = 0;
    /// The maximum of all ranks' values. Collective.
    virtual double maximum(double value) const = 0;
    /// The texts of all ranks, in the order of ranks. Collective.
    virtual std::vector<std::string> all_gather(const std::string& own) const = 0;
    /// Returns when all ranks have called it. Collective.
    virtual void barrier() const = 0;
    /// Sets up an exchange. Messages between two ranks with the same tag are matched in the order in which they are
    /// started.
    virtual std::unique_ptr<Exchange> exchange(const std::vector<Message>& receives,
                                               const std::vector<Message>& sends) const = 0;

    /// The version text of the message-passing library; empty if there is none.
    virtual std::string library_version() const = 0;
    /// Whether the buffers of messages may be in the memory of an NVIDIA GPU.
    virtual bool cuda_aware() const = 0;

private:
    std::string pretended_host_{};
};

/// The communicator of a run of one process.
class Serial final : public Communicator {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    void sum(double*, int) const override {}
    double maximum(double value) const override { return value; }
    std::vector<std::string> all_gather(const std::string& own) const override { return {own}; }
    void barrier() const override {}
    /// Throws std::logic_error if there is any message, as there is no other rank.
    std::unique_ptr<Exchange> exchange(const std::vector<Message>& receives,
                                       const std::vector<Message>& sends) const override;
    std::string library_version() const override { return ""; }
    bool cuda_aware() const override { return false; }
};

}  // namespace lbm::comm
