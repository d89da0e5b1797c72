// Re-exports the communicator types of comm/ in namespace lbm::engine, because the bindings may include headers of the
// engine only.
#pragma once

#include "../comm/communicator.h"
#include "../comm/mpi.h"

namespace lbm::engine {

using comm::Communicator;
using comm::Exchange;
using comm::make_mpi;
using comm::Message;

}  // namespace lbm::engine
