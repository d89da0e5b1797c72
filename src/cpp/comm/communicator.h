// What the engine needs of the processes it runs on: sums over them, and messages that are exchanged again and again.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace lbm::comm {

/// Bytes at a fixed place that go to or come from another rank.
struct Message {
    void* data;
    std::size_t bytes;
    int rank;
    int tag;
};

/// Messages that are sent and received again and again: set up once, then for each exchange start_receives,
/// start_sends, finish.
class Exchange {
public:
    Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    /// The places of the messages must still be there; what has been started and not finished is given up.
    virtual ~Exchange() = default;

    /// From here to `finish` the places of the receives belong to the exchange.
    virtual void start_receives() = 0;
    /// From here to `finish` the places of the sends must not change.
    virtual void start_sends() = 0;
    /// Returns when all that was started has arrived and has left.
    virtual void finish() = 0;
};

/// The ranks of a run. What all of them must call together says so.
class Communicator {
public:
    Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Replaces values[0 .. count) by their sum over all ranks; all call it.
    virtual void sum(double* values, int count) const = 0;
    /// The largest of all ranks' values; all call it.
    virtual double maximum(double value) const = 0;
    /// Every rank's text, in the order of ranks; all call it.
    virtual std::vector<std::string> all_gather(const std::string& own) const = 0;
    /// Returns when all ranks have called it.
    virtual void barrier() const = 0;
    /// Messages between two ranks with the same tag pair up in the order in which they are started.
    virtual std::unique_ptr<Exchange> exchange(const std::vector<Message>& receives,
                                               const std::vector<Message>& sends) const = 0;

    /// What the library that moves the bytes says of its version; empty where there is none.
    virtual std::string library_version() const = 0;
    /// Whether messages may lie in the memory of an NVIDIA GPU.
    virtual bool cuda_aware() const = 0;
};

/// One process, alone.
class Serial final : public Communicator {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    void sum(double*, int) const override {}
    double maximum(double value) const override { return value; }
    std::vector<std::string> all_gather(const std::string& own) const override { return {own}; }
    void barrier() const override {}
    /// Throws std::logic_error for any message: there is no other rank.
    std::unique_ptr<Exchange> exchange(const std::vector<Message>& receives,
                                       const std::vector<Message>& sends) const override;
    std::string library_version() const override { return ""; }
    bool cuda_aware() const override { return false; }
};

}  // namespace lbm::comm
