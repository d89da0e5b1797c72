// Errors of the emulated driver: codes of CUresult.
#pragma once

#include <stdexcept>
#include <string>

namespace emulated {

enum Code : int {
    InvalidValue = 1,
    OutOfMemory = 2,
    InvalidDevice = 101,
    InvalidImage = 200,
    InvalidContext = 201,
    InvalidHandle = 400,
    NotFound = 500,
    NotReady = 600,
    PeerAlreadyEnabled = 704,
    LaunchFailed = 719,
    NotSupported = 801,
    CaptureUnsupported = 900,
    CaptureUnjoined = 904,
    CaptureIsolation = 905,
    CapturedEvent = 907
};

/// A call that fails, with what a developer should know of it.
class Error : public std::runtime_error {
public:
    Error(Code code, const std::string& what) : std::runtime_error(what), code(code) {}
    const Code code;
};

}  // namespace emulated
