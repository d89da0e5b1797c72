// Propagation on a GPU in layouts of memory.
#include "../propagation_run.h"
#include "../type_name.h"
#include "cuda_block.h"
#include "kernel.h"

namespace lbm::cuda {
namespace {

using backend::PropagationBox;

/// The two lattices of a box in a GPU's memory.
template <class S, class T>
class Lattices {
public:
    Lattices(const PropagationBox& box, const Kernel& kernel, const WorkStream& stream)
        : box_(box),
          kernel_(kernel),
          stream_(stream),
          from_(stream.ordinal(), std::size_t(box.cells()) * S::Q * sizeof(T)),
          to_(stream.ordinal(), from_.bytes()) {}

    void step() {
        kernel_.launch(stream_, flat(box_.cells()), from_.address(), to_.address(), box_);
        std::swap(from_, to_);
    }
    void wait() const { stream_.synchronize(); }
    void set(const std::vector<T>& numbers) {
        stream_.copy_to_device(from_.address(), numbers.data(), from_.bytes());
        wait();
    }
    std::vector<T> get() const {
        std::vector<T> numbers(from_.bytes() / sizeof(T));
        stream_.copy_to_host(numbers.data(), from_.address(), from_.bytes());
        wait();
        return numbers;
    }

private:
    PropagationBox box_;
    const Kernel& kernel_;
    const WorkStream& stream_;
    DeviceBuffer from_, to_;
};

}  // namespace

double propagation_seconds(const backend::PropagationKind& kind, const PropagationBox& box, int ordinal,
                           double seconds) {
    const DeviceInfo device = device_info(ordinal);
    const WorkStream stream(ordinal);
    double found = 0;
    backend::with_propagation(kind, [&]<class S, class Layout, class T>() {
        const std::string types = backend::spelled<S>() + ", " + backend::spelled<Layout>() + ", ";
        const KernelName name{"propagation.h", "lbm::cuda::propagate<" + types + backend::spelled<T>() + ">"};
        const Kernel kernel(ordinal, compile(name, device.architecture(), run_time::cache_folder()));
        found = backend::mean_seconds<S, Layout, T>(
            box, seconds, [&](const PropagationBox& of) { return Lattices<S, T>(of, kernel, stream); });
    });
    return found;
}

}  // namespace lbm::cuda
