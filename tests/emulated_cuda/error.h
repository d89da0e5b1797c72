// Errors of the emulated driver: codes of CUresult.
#pragma once

#include <map>
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

/// The driver's name of a code; null for one that is not known.
inline const char* name_of(int code) {
    static const std::map<int, const char*> names = {{InvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                                     {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                     {100, "CUDA_ERROR_NO_DEVICE"},
                                                     {InvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
                                                     {InvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
                                                     {InvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
                                                     {InvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
                                                     {NotFound, "CUDA_ERROR_NOT_FOUND"},
                                                     {NotReady, "CUDA_ERROR_NOT_READY"},
                                                     {LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
                                                     {NotSupported, "CUDA_ERROR_NOT_SUPPORTED"},
                                                     {CaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
                                                     {CaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
                                                     {CaptureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
                                                     {CapturedEvent, "CUDA_ERROR_CAPTURED_EVENT"}};
    const auto found = names.find(code);
    return found == names.end() ? nullptr : found->second;
}

/// A call that fails, with what a developer should know of it.
class Error : public std::runtime_error {
public:
    Error(Code code, const std::string& what) : std::runtime_error(what), code(code) {}
    const Code code;
};

}  // namespace emulated
