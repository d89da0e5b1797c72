// Reads and sets the populations of a simulation: as values, bit by bit, and as fields in the memory of a GPU.
#include <stdexcept>

#include "engine.h"

namespace lbm::engine {

void Engine::set_populations(const double* values) {
    prepare();
    state_is_set();
    give_parts(values, window_, population_count(), [this](auto& block, const double* part) {
        keep_temperature(block, [part](auto& b) { b.set_populations(part); });
    });
}

void Engine::get_state(void* out) {
    backend::with_stored(spec_.storage, [&](auto stored) {
        using T = decltype(stored);
        read_parts(static_cast<T*>(out), state_count(), [](const auto& block, T* part) { block.get_state(part); });
    });
}

void Engine::set_state(const void* values) {
    prepare();
    state_is_set();
    backend::with_stored(spec_.storage, [&](auto stored) {
        using T = decltype(stored);
        give_parts(static_cast<const T*>(values), window_, state_count(), [this](auto& block, const T* part) {
            keep_temperature(block, [part](auto& b) { b.set_state(part); });
        });
    });
}

std::shared_ptr<backend::DeviceArray> Engine::device_field(backend::FieldName name, double reference) {
    if (layout_.blocks().size() > 1) {
        throw std::invalid_argument("the fields of several blocks are not one array of a device");
    }
    prepare_fields();
    return parts_.front().state->device_field(name, reference);
}

}  // namespace lbm::engine
