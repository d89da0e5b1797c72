// The types of comm/ that the bindings need to set up an engine over several processes: bindings use the engine alone.
#pragma once

#include "../comm/communicator.h"
#include "../comm/mpi.h"

namespace lbm::engine {

using comm::Communicator;
using comm::Exchange;
using comm::make_mpi;
using comm::Message;

}  // namespace lbm::engine
