// The engine's members for what faces have beside conditions: the numbers that boundary cells keep from step to step,
// and sponges.
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine.h"

namespace lbm::engine {

void Engine::add_sponge(const Sponge& sponge) {
    const auto refuse = [](const std::string& name, double given, const std::string& right) {
        throw std::invalid_argument(name + " of a sponge: " + std::to_string(given) + " given, must be " + right);
    };
    if (sponge.face < 0 || sponge.face >= 2 * domain_.D) {
        refuse("face", sponge.face, "0 to " + std::to_string(2 * domain_.D - 1));
    }
    const int cells = domain_.size[sponge.face / 2];
    if (sponge.thickness < 1 || sponge.thickness > cells) {
        refuse("thickness", sponge.thickness, "1 to " + std::to_string(cells));
    }
    for (const auto& [name, rate] : {std::pair("strength", sponge.damping), std::pair("pull", sponge.pull)}) {
        if (!(rate >= 0 && rate <= 1)) {
            refuse(name, rate, "0 to 1");
        }
    }
    if (!(sponge.density > 0) || !std::isfinite(sponge.density)) {
        refuse("density", sponge.density, "a positive number");
    }
    for (const double component : sponge.velocity) {
        if (!std::isfinite(component)) {
            refuse("velocity", component, "finite");
        }
    }
    if (backend::is_multispeed(spec_) || spec_.state->steps_per_launch > 1) {
        throw std::invalid_argument("sponge: given with a stencil or a state that treats no cells between steps");
    }
    domain_.sponges.push_back(sponge);
    plan_is_current_ = false;
}

int Engine::boundary_number_count(int face) const {
    return with_condition(domain_.faces[face], [](auto c) { return boundary::stored_numbers<decltype(c)>(); });
}

void Engine::prepare_boundary_numbers() {
    prepare();
    if (!boundary_numbers_are_current_) {
        for (backend::BlockState* state : states_) {
            state->start_boundary_numbers();
        }
        boundary_numbers_are_current_ = true;
        halos_are_current_ = false;
    }
}

std::vector<double> Engine::boundary_numbers(int face) {
    prepare_boundary_numbers();
    const Index cells = domain_.face_cells(face);
    std::vector<double> all(std::size_t(boundary_number_count(face) * cells));
    for (const Part& part : parts_) {
        std::vector<double> own(std::size_t(part.plan.links().boundary_numbers));
        part.state->boundary_numbers(own.data());
        part.plan.for_boundary_numbers(
            face, [&](Index place, int k, Index at) { all[std::size_t(k * cells + place)] = own[std::size_t(at)]; });
    }
    comm_->sum(all.data(), int(all.size()));
    return all;
}

void Engine::set_boundary_numbers(const std::map<int, std::vector<double>>& values_by_face) {
    for (const auto& [face, values] : values_by_face) {
        const Index needed = boundary_number_count(face) * domain_.face_cells(face);
        if (values.size() != std::size_t(needed)) {
            throw std::invalid_argument("boundary numbers: " + std::to_string(values.size()) + " given for face " +
                                        face_name(face) + ", must be " + std::to_string(needed));
        }
    }
    if (values_by_face.empty()) {
        return;
    }
    prepare_boundary_numbers();
    for (const Part& part : parts_) {
        std::vector<double> own(std::size_t(part.plan.links().boundary_numbers));
        part.state->boundary_numbers(own.data());  // so that those of other faces are kept
        for (const auto& [face, values] : values_by_face) {
            const Index cells = domain_.face_cells(face);
            part.plan.for_boundary_numbers(face, [&, &numbers = values](Index place, int k, Index at) {
                own[std::size_t(at)] = numbers[std::size_t(k * cells + place)];
            });
        }
        part.state->set_boundary_numbers(own.data());
    }
    halos_are_current_ = false;
}

}  // namespace lbm::engine
