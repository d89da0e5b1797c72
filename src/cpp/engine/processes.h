// The processes that an engine runs on: what those who set one up need of comm/.
#pragma once

#include "../comm/communicator.h"
#include "../comm/mpi.h"

namespace lbm::engine {

using comm::Communicator;
using comm::Exchange;
using comm::make_mpi;
using comm::Message;

}  // namespace lbm::engine
