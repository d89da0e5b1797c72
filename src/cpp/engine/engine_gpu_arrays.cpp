// The engine's members for fields that stay in the memory of GPUs.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine.h"
#include "field_parts.h"
#include "models.h"

namespace lbm::engine {

void Engine::check_gpu_array(const char* name, const backend::GpuArray& array, int components, const Box& box) const {
    if (array.components != components) {
        throw std::invalid_argument(std::string(name) + ": an array of other components than " +
                                    std::to_string(components) + " given");
    }
    for (int a = 0; a < 3; ++a) {
        const bool is_whole = array.size[a] == domain_.size[a] && array.first[a] == 0;
        const int first = box.offset[a] - array.first[a];
        if (!is_whole && (first < 0 || first + box.size[a] > array.size[a])) {
            throw std::invalid_argument(std::string(name) + ": an array that lacks cells of this process given");
        }
    }
    check_on_gpus(name);
}

void Engine::check_on_gpus(const char* name) const {
    if (std::any_of(parts_.begin(), parts_.end(), [](const Part& p) { return p.state->gpu_inputs() == nullptr; })) {
        throw std::invalid_argument(std::string(name) + ": an array in a GPU's memory is for blocks on GPUs");
    }
}

void Engine::set_force_array(const backend::GpuArray& force) {
    check_drive(spec_, "force");
    check_gpu_array("force", force, domain_.D, window_);
    for (const Part& part : parts_) {
        const int(&offset)[3] = part.place.offset;
        part.state->gpu_inputs()->set_force({&force, {offset[0], offset[1], offset[2]}});
    }
    force_is_scaled_by(-1);
}

void Engine::set_heat_source_array(const backend::GpuArray& source) {
    check_drive(spec_, "heat_source");
    check_gpu_array("source", source, 0, window_);
    for (const Part& part : parts_) {
        const int(&offset)[3] = part.place.offset;
        part.state->gpu_inputs()->set_heat_source({&source, {offset[0], offset[1], offset[2]}});
    }
}

template <class Read>
void Engine::read_from_gpus(const char* name, double* out, int components, Read&& read) const {
    check_on_gpus(name);
    for (const Part& part : parts_) {
        put_part(out, window_, part.place, components, [&](double* data) { read(*part.state->gpu_inputs(), data); });
    }
}

void Engine::force_field(double* out) const {
    read_from_gpus("force", out, domain_.D, [](const auto& block, double* part) { block.force(part); });
}

void Engine::heat_source_field(double* out) const {
    read_from_gpus("source", out, 1, [](const auto& block, double* part) { block.heat_source(part); });
}

double Engine::sum_of_fluid_cells(const backend::GpuArray& array) const {
    if (comm_->size() > 1) {
        throw std::invalid_argument("density: an array in a GPU's memory given to several processes, which add it up");
    }
    std::vector<std::uint8_t> solid(domain_.owner.size());
    std::transform(domain_.owner.begin(), domain_.owner.end(), solid.begin(),
                   [](std::uint16_t owner) { return std::uint8_t(owner != no_body ? 1 : 0); });
    return backend::ordered_sum(array, {0, 0, 0}, domain_.size, solid.empty() ? nullptr : solid.data(), 0);
}

}  // namespace lbm::engine
