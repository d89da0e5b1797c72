// What the engine needs of the processes it runs on; one process for now.
#pragma once

namespace lbm::comm {

class Communicator {
public:
    Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Replaces values[0 .. count) by their sum over all ranks.
    virtual void sum(double* values, int count) const = 0;
};

/// One process, alone.
class Serial final : public Communicator {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    void sum(double*, int) const override {}
};

}  // namespace lbm::comm
