// Tests of the communicator of a process that is alone.
#include <stdexcept>
#include <string>
#include <vector>

#include "../../src/cpp/comm/communicator.h"
#include "check.h"

TEST(serial_has_one_rank) {
    const lbm::comm::Serial serial;
    CHECK_EQUAL(serial.rank(), 0);
    CHECK_EQUAL(serial.size(), 1);
    CHECK_EQUAL(serial.library_version(), "");
    CHECK(!serial.cuda_aware());
}

TEST(serial_gives_back_what_one_rank_has) {
    const lbm::comm::Serial serial;
    double values[] = {1.5, -2};
    serial.sum(values, 2);
    CHECK_EQUAL(values[0], 1.5);
    CHECK_EQUAL(values[1], -2.0);
    CHECK_EQUAL(serial.maximum(-3), -3.0);
    CHECK(serial.all_gather("own") == std::vector<std::string>{"own"});
    serial.barrier();
}

TEST(serial_exchanges_nothing) {
    const lbm::comm::Serial serial;
    const auto exchange = serial.exchange({}, {});
    exchange->start_receives();
    exchange->start_sends();
    exchange->finish();
    double value = 0;
    const lbm::comm::Message message{&value, sizeof value, 0, 0};
    CHECK_THROWS(std::logic_error, "one process", serial.exchange({message}, {}));
    CHECK_THROWS(std::logic_error, "one process", serial.exchange({}, {message}));
}
