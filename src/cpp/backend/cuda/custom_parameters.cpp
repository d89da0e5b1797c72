// Runs the kernel of one thread that makes the parameters.
#include "custom_parameters.h"

#include "kernel.h"
#include "kernel_names.h"
#include "upload.h"

namespace lbm::cuda {

custom::Made make_parameters(const backend::BlockSpec& spec, const std::vector<custom::GivenNumber>& given,
                             int ordinal) {
    const Kernel kernel(ordinal, compile(custom_parameters_kernel(spec), device_info(ordinal).architecture(),
                                         run_time::cache_folder()));
    const WorkStream stream(ordinal);
    custom::Made made{};
    DeviceBuffer numbers, results;
    upload(numbers, stream, given);
    upload(results, stream, &made, 1);
    kernel.launch(stream, LaunchDimensions{}, numbers.as<const custom::GivenNumber>(), int(given.size()),
                  results.as<custom::Made>(), static_cast<void*>(nullptr));
    stream.copy_to_host(&made, results.address(), sizeof made);
    stream.synchronize();
    return made;
}

}  // namespace lbm::cuda
