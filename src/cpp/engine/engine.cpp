// Builds the blocks and plans of a simulation and steps them.
#include "engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace lbm::engine {
Engine::Engine(const Setup& setup)
    : domain_(make_domain(setup)),
      spec_(block_spec(setup)),
      device_(backend::checked(setup.device)),
      layout_(Layout::single(spec_.size, device_.name)),
      block_(backend::make_block(spec_, device_)),
      schedule_(!block_->works_by_itself()) {
    schedule_.add("boundary", [this] { block_->fill_links(); });
    schedule_.add("update", [this] { block_->update(); });
}

std::size_t Engine::memory_needed(const Setup& setup) {
    return backend::memory_needed(block_spec(setup), setup.device.name);
}

int Engine::add_body(const std::vector<bool>& mask, std::vector<double> velocity) {
    if (steps_ > 0) {
        throw std::invalid_argument("bodies must be added before the first step");
    }
    if (bodies() == max_bodies) {
        throw std::invalid_argument("at most " + std::to_string(max_bodies) + " bodies");
    }
    if (domain_.owner.empty()) {
        domain_.owner.assign(std::size_t(domain_.cells()), no_body);
    }
    for (Index at = 0; at < domain_.cells(); ++at) {
        if (mask[std::size_t(at)] && domain_.solid(at)) {
            throw std::invalid_argument("mask: the body overlaps another one");
        }
    }
    for (Index at = 0; at < domain_.cells(); ++at) {
        if (mask[std::size_t(at)]) {
            domain_.owner[at] = std::uint16_t(bodies());
        }
    }
    domain_.body_velocity.push_back(std::move(velocity));
    plan_is_current_ = false;
    mark_solid();
    return bodies() - 1;
}

void Engine::set_body_velocity(int body, std::vector<double> velocity) {
    if (domain_.body_velocity[body].empty() || velocity.empty()) {
        throw std::invalid_argument("only a body that was added with a velocity can be given another");
    }
    domain_.body_velocity[body] = std::move(velocity);
    values_are_current_ = solid_velocity_is_current_ = false;
}

void Engine::check_face(int face, FaceKind first, FaceKind second, const char* what) const {
    if (face < 0 || face >= 2 * domain_.D || (domain_.faces[face] != first && domain_.faces[face] != second)) {
        throw std::invalid_argument("face " + std::to_string(face) + " takes no " + what);
    }
}

void Engine::set_face_velocity(int face, std::vector<double> velocity) {
    check_face(face, FaceKind::MovingWall, FaceKind::VelocityInlet, "velocity");
    domain_.face_velocity[face] = std::move(velocity);
    values_are_current_ = false;
}

void Engine::set_face_density(int face, std::vector<double> density) {
    check_face(face, FaceKind::PressureOutlet, FaceKind::PressureOutlet, "density");
    domain_.face_density[face] = std::move(density);
    values_are_current_ = false;
}

void Engine::set_force(const std::vector<double>& force) {
    const bool uniform = force.size() == std::size_t(domain_.D);
    block_->set_force(uniform ? force.data() : nullptr, force.empty() || uniform ? nullptr : force.data());
}

void Engine::mark_solid() {
    const Index cells = domain_.cells();
    solid_.assign(std::size_t(cells), 0);
    for (Index at = 0; at < cells; ++at) {
        solid_[at] = domain_.solid(at) ? 1 : 0;
    }
    const bool moving = std::any_of(domain_.body_velocity.begin(), domain_.body_velocity.end(),
                                    [](const auto& velocity) { return !velocity.empty(); });
    solid_velocity_.assign(moving ? std::size_t(cells * domain_.D) : 0, 0.0);
    solid_velocity_is_current_ = !moving;
    block_->set_solid(solid_.data(), moving ? solid_velocity_.data() : nullptr);
}

void Engine::rebuild_solid_velocity() {
    const Index cells = domain_.cells();
    for (Index at = 0; at < cells; ++at) {
        if (!domain_.solid(at)) {
            continue;
        }
        for (int d = 0; d < domain_.D; ++d) {
            solid_velocity_[d * cells + at] =
                component(domain_.body_velocity[domain_.owner[at]], domain_.D, d, at, cells);
        }
    }
    solid_velocity_is_current_ = true;
    block_->set_solid(solid_.data(), solid_velocity_.data());
}

void Engine::prepare() {
    if (!plan_is_current_) {
        plan_ = HaloPlan(domain_, block_->address(), backend::phases_of(spec_));
        block_->set_plan(plan_.links());
        plan_is_current_ = values_are_current_ = true;
    }
    if (!values_are_current_) {
        plan_.refresh_values(domain_);
        block_->plan_values_changed();
        values_are_current_ = true;
    }
}

void Engine::set_reference_density(double density) {
    if (!(density > 0) || !std::isfinite(density)) {
        throw std::invalid_argument("reference density: it must be a positive number");
    }
    domain_.reference_density = density;
    values_are_current_ = false;
}

void Engine::initialize(const double* density, const double* velocity, bool nonequilibrium) {
    double sums[2] = {0, 0};
    for (Index at = 0; at < domain_.cells(); ++at) {
        if (!domain_.solid(at)) {
            sums[0] += density == nullptr ? 1.0 : density[at];
            sums[1] += 1;
        }
    }
    comm_.sum(sums, 2);
    set_reference_density(sums[1] > 0 ? sums[0] / sums[1] : 1.0);
    prepare();
    bool periodic[3];
    for (int a = 0; a < 3; ++a) {
        periodic[a] = domain_.faces[2 * a] == FaceKind::Periodic;
    }
    block_->initialize(density, velocity, nonequilibrium ? periodic : nullptr);
}

void Engine::step(Index steps) {
    prepare();
    block_->repeat(steps, [this] { schedule_.run_step(); });
    steps_ += steps;
}

backend::BlockState& Engine::state() {
    prepare();
    if (!solid_velocity_is_current_) {
        rebuild_solid_velocity();
    }
    return *block_;
}

backend::ForceAndTorque Engine::body_force(int body, const double (&center)[3]) {
    prepare();
    return block_->body_force(plan_.body_links(body), center);
}

backend::Totals Engine::totals() {
    backend::Totals totals = block_->totals();
    comm_.sum(&totals.mass, 1);
    comm_.sum(totals.momentum, 3);
    comm_.sum(&totals.energy, 1);
    return totals;
}

double Engine::velocity_change() {
    double sums[2];
    block_->velocity_change(sums[0], sums[1]);
    comm_.sum(sums, 2);
    if (sums[1] == 0) {
        return sums[0] > 0 ? std::numeric_limits<double>::infinity() : 0;
    }
    return std::sqrt(sums[0] / sums[1]);
}

std::size_t Engine::bytes() const {
    return block_->bytes() + plan_.bytes() + solid_.capacity() + solid_velocity_.capacity() * sizeof(double) +
           domain_.owner.capacity() * sizeof(std::uint16_t);
}

}  // namespace lbm::engine
