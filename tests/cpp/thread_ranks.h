// Ranks that are threads of one process, for tests of what goes between ranks without MPI.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "../../src/cpp/comm/communicator.h"

namespace tests {

/// What the ranks of a run share.
class ThreadRanks {
public:
    explicit ThreadRanks(int size) : size_(size), texts_(std::size_t(size)) {}

    /// Calls work(communicator) on a thread for each rank; throws what the first of them has thrown.
    static void run(int size, const std::function<void(std::shared_ptr<const lbm::comm::Communicator>)>& work) {
        const auto shared = std::make_shared<ThreadRanks>(size);
        std::vector<std::thread> threads;
        threads.reserve(std::size_t(size));
        for (int rank = 0; rank < size; ++rank) {
            threads.emplace_back([&, rank] {
                try {
                    work(std::make_shared<Rank>(shared, rank));
                } catch (...) {
                    shared->fail(std::current_exception());
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        if (shared->error_ != nullptr) {
            std::rethrow_exception(shared->error_);
        }
    }

private:
    using Address = std::tuple<int, int, int>;  // from, to, tag

    class Mail final : public lbm::comm::Exchange {
    public:
        Mail(ThreadRanks& ranks, int rank, std::vector<lbm::comm::Message> receives,
             std::vector<lbm::comm::Message> sends)
            : ranks_(ranks), rank_(rank), receives_(std::move(receives)), sends_(std::move(sends)) {}

        void start_receives() override {}
        void start_sends() override {
            for (const lbm::comm::Message& message : sends_) {
                ranks_.post({rank_, message.rank, message.tag},
                            {static_cast<const char*>(message.data), message.bytes});
            }
        }
        void finish() override {
            for (const lbm::comm::Message& message : receives_) {
                const std::string bytes = ranks_.take({message.rank, rank_, message.tag});
                if (bytes.size() != message.bytes) {
                    throw std::logic_error("a message is not as long as its receiver expects");
                }
                std::memcpy(message.data, bytes.data(), bytes.size());
            }
        }

    private:
        ThreadRanks& ranks_;
        int rank_;
        std::vector<lbm::comm::Message> receives_, sends_;
    };

    class Rank final : public lbm::comm::Communicator {
    public:
        Rank(std::shared_ptr<ThreadRanks> ranks, int rank) : ranks_(std::move(ranks)), rank_(rank) {}

        int rank() const override { return rank_; }
        int size() const override { return ranks_->size_; }
        void sum(double* values, int count) const override {
            const auto all = gathered(values, count);
            std::fill_n(values, count, 0.0);
            for (const auto& own : all) {
                for (int k = 0; k < count; ++k) {
                    values[k] += own[std::size_t(k)];
                }
            }
        }
        double maximum(double value) const override {
            for (const auto& own : gathered(&value, 1)) {
                value = std::max(value, own.front());
            }
            return value;
        }
        std::vector<std::string> all_gather(const std::string& own) const override {
            return ranks_->gather(rank_, own);
        }
        void barrier() const override { ranks_->gather(rank_, ""); }
        std::unique_ptr<lbm::comm::Exchange> exchange(const std::vector<lbm::comm::Message>& receives,
                                                      const std::vector<lbm::comm::Message>& sends) const override {
            return std::make_unique<Mail>(*ranks_, rank_, receives, sends);
        }
        std::string library_version() const override { return "threads"; }
        bool cuda_aware() const override { return false; }

    private:
        std::vector<std::vector<double>> gathered(const double* values, int count) const {
            std::vector<std::vector<double>> all;
            const std::size_t bytes = std::size_t(count) * sizeof(double);
            for (const std::string& text : ranks_->gather(rank_, {reinterpret_cast<const char*>(values), bytes})) {
                all.emplace_back(std::size_t(count));
                std::memcpy(all.back().data(), text.data(), bytes);
            }
            return all;
        }

        std::shared_ptr<ThreadRanks> ranks_;
        int rank_;
    };

    void post(const Address& address, const std::string& bytes) {
        const std::lock_guard<std::mutex> lock(mutex_);
        mail_[address].push_back(bytes);
        changed_.notify_all();
    }
    std::string take(const Address& address) {
        std::unique_lock<std::mutex> lock(mutex_);
        wait(lock, [&] { return !mail_[address].empty(); });
        std::string bytes = mail_[address].front();
        mail_[address].pop_front();
        return bytes;
    }
    std::vector<std::string> gather(int rank, const std::string& own) {
        std::unique_lock<std::mutex> lock(mutex_);
        wait(lock, [&] { return !leaving_; });  // those of the last time
        texts_[std::size_t(rank)] = own;
        leaving_ = ++present_ == size_;
        changed_.notify_all();
        wait(lock, [&] { return leaving_; });
        std::vector<std::string> all = texts_;
        leaving_ = --present_ > 0;
        changed_.notify_all();
        return all;
    }
    void fail(const std::exception_ptr& error) {
        const std::lock_guard<std::mutex> lock(mutex_);
        error_ = error_ == nullptr ? error : error_;
        changed_.notify_all();
    }
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, Ready&& ready) {
        changed_.wait(lock, [&] { return error_ != nullptr || ready(); });
        if (error_ != nullptr) {
            throw std::runtime_error("another rank has failed");
        }
    }

    int size_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Address, std::deque<std::string>> mail_;
    std::vector<std::string> texts_;
    int present_ = 0;
    bool leaving_ = false;
    std::exception_ptr error_;
};

}  // namespace tests
