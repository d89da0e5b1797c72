// Builds the blocks, plans and exchange of a simulation and steps them.
#include "engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "interior.h"
#include "models.h"
#include "padded_box.h"

namespace lbm::engine {
namespace {

/// Boundaries are applied between launches only, so a launch of several steps allows neither walls nor a temperature.
backend::BlockSpec checked(backend::BlockSpec spec, const Domain& domain) {
    const bool periodic = std::all_of(domain.faces, domain.faces + 2 * domain.D, is_periodic);
    if (spec.state->steps_per_launch > 1 && (!periodic || domain.is_hybrid_thermal)) {
        throw std::invalid_argument("state: '" + std::string(spec.state->name) +
                                    "' advances several steps a launch, which takes periodic faces and no temperature");
    }
    return spec;
}

Layout checked(Layout layout, const Domain& domain) {
    check_boundary_cells(domain, layout);
    return layout;
}

}  // namespace

Engine::Engine(const Setup& setup)
    : domain_(make_domain(setup)),
      spec_(checked(block_spec(setup), domain_)),
      device_(backend::checked(setup.device)),
      layout_(checked(make_layout(setup, spec_), domain_)),
      comm_(setup.comm != nullptr ? setup.comm : std::make_shared<comm::Serial>()),
      whole_{{0, 0, 0}, {domain_.size[0], domain_.size[1], domain_.size[2]}},
      window_(layout_.window(comm_->rank())),
      parts_(make_parts(spec_, layout_, comm_->rank(), device_)),
      channel_(setup.channel),
      has_interiors_(layout_.blocks().size() > 1 && has_interiors(layout_, setup.schedule)) {
    for (const Part& part : parts_) {
        (part.state->is_asynchronous() ? asynchronous_ : synchronous_).push_back(part.state.get());
    }
    states_ = asynchronous_;
    states_.insert(states_.end(), synchronous_.begin(), synchronous_.end());
    executor_ = std::make_unique<Executor>(states_);
    if (domain_.is_hybrid_thermal) {
        for (backend::BlockState* state : states_) {
            state->thermal()->set_temperature(nullptr);
        }
    }
    if (backend::is_multispeed(spec_)) {  // the state at rest includes half of a step's gravity
        for (backend::BlockState* state : states_) {
            const Address& a = state->address();
            state->initialize({nullptr, nullptr, nullptr, nullptr, nullptr, {0, 0, 0}, {a.nx, a.ny, a.nz}});
        }
    }
}

std::vector<Engine::Part> Engine::make_parts(const backend::BlockSpec& whole, const Layout& layout, int rank,
                                             const backend::DeviceOptions& device) {
    std::vector<Part> parts;
    for (std::size_t k = 0; k < layout.blocks().size(); ++k) {
        const Block& place = layout.blocks()[k];
        if (place.rank != rank) {
            continue;
        }
        Part part;
        part.number = int(k);
        part.place = place;
        part.state = backend::make_block(part_of(whole, place), {place.device, device.threads, device.isa});
        parts.push_back(std::move(part));
    }
    return parts;
}

std::map<std::string, std::size_t> Engine::memory_needed(const Setup& setup, int rank) {
    const backend::BlockSpec whole = block_spec(setup);
    const Layout layout =
        setup.blocks.empty() ? Layout::single(whole.size, setup.device.name) : Layout(whole.size, setup.blocks);
    std::map<std::string, std::size_t> needed;
    for (const Block& block : layout.blocks()) {
        if (block.rank == rank) {
            needed[block.device] += backend::memory_needed(part_of(whole, block), block.device);
        }
    }
    return needed;
}

process::Mutex& Engine::mutex() const {
    const bool is_bound = comm_->size() > 1 || !asynchronous_.empty();
    if (is_bound && !mutex_.is_of_this_process()) {
        throw process::ForkError("an engine on a GPU or of several ranks cannot be used in a child process");
    }
    return mutex_;
}

int Engine::population_count() const {
    return backend::with_stencil(spec_.stencil, [](auto s) { return decltype(s)::Q; });
}

int Engine::add_body(const std::vector<bool>& mask, std::vector<double> velocity, std::vector<double> temperature) {
    if (!temperature.empty()) {
        check_thermal();
    }
    check_bodies(spec_);
    if (spec_.state->steps_per_launch > 1) {
        throw std::invalid_argument("bodies: a state that advances several steps a launch takes none");
    }
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
    domain_.body_temperature.push_back(std::move(temperature));
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

void Engine::set_face_value(int face, boundary::Value kind, const std::string& what, std::vector<double> values) {
    if (face < 0 || face >= 2 * domain_.D ||
        with_condition(domain_.faces[face], [](auto c) { return decltype(c)::value; }) != kind) {
        throw std::invalid_argument("face " + std::to_string(face) + " takes no " + what);
    }
    domain_.face_value[face] = std::move(values);
    values_are_current_ = false;
}

void Engine::set_face_velocity(int face, std::vector<double> velocity) {
    set_face_value(face, boundary::Value::Velocity, "velocity", std::move(velocity));
}

void Engine::set_face_number(int face, std::vector<double> number, const std::string& name) {
    set_face_value(face, boundary::Value::Number, name, std::move(number));
}

void Engine::set_force(const std::vector<double>& force) {
    if (force.empty() && !facts_of(spec_).takes("force")) {
        return;
    }
    check_drive(spec_, "force");
    const bool uniform = force.size() == std::size_t(domain_.D);
    const double* field = force.empty() || uniform ? nullptr : force.data();
    give_parts(field, whole_, domain_.D,
               [&](auto& block, const double* part) { block.set_force(uniform ? force.data() : nullptr, part); });
}

void Engine::mark_solid() {
    const bool moving = std::any_of(domain_.body_velocity.begin(), domain_.body_velocity.end(),
                                    [](const auto& velocity) { return !velocity.empty(); });
    solid_velocity_is_current_ = !moving;
    for (Part& part : parts_) {
        part.solid.resize(std::size_t(part.place.cells()));
        part.solid_velocity.assign(moving ? std::size_t(domain_.D * part.place.cells()) : 0, 0.0);
        for_rows(whole_, part.place, 1, [&](Index from, Index to, Index count) {
            for (Index k = 0; k < count; ++k) {
                part.solid[std::size_t(to + k)] = domain_.solid(from + k) ? 1 : 0;
            }
        });
        part.state->set_solid(part.solid.data(), moving ? part.solid_velocity.data() : nullptr);
    }
}

void Engine::rebuild_solid_velocity() {
    const Index cells = domain_.cells();
    for (Part& part : parts_) {
        for_rows(whole_, part.place, domain_.D, [&](Index from, Index to, Index count) {
            const Index d = from / cells;
            for (Index k = 0; k < count; ++k) {
                const Index at = from - d * cells + k;
                part.solid_velocity[std::size_t(to + k)] =
                    domain_.solid(at)
                        ? component(domain_.body_velocity[domain_.owner[at]], domain_.D, int(d), at, cells)
                        : 0;
            }
        });
        part.state->set_solid(part.solid.data(), part.solid_velocity.data());
    }
    solid_velocity_is_current_ = true;
}

void Engine::prepare() {
    if (!plan_is_current_) {
        std::vector<BlockPlacement> placements;
        for (const Block& block : layout_.blocks()) {
            const int(&offset)[3] = block.offset;
            const backend::BlockSpec spec = part_of(spec_, block);
            BlockPlacement placement{{offset[0], offset[1], offset[2]}, backend::block_address(spec, block.device)};
            std::copy(spec.stored, spec.stored + 6, placement.stored);
            placement.number_elements = int(backend::size_of(spec.precision) / backend::size_of(spec.storage));
            placements.push_back(placement);
        }
        for (Part& part : parts_) {
            part.state->set_interior(interior_of(part));
            part.plan = BoundaryHaloPlan(domain_, placements, part.number, backend::phases_of(spec_));
            part.state->set_plan(part.plan.links());
        }
        if (placements.size() > 1) {
            exchange_ = make_exchange(placements);
        }
        plan_is_current_ = values_are_current_ = true;
        halos_are_current_ = boundary_numbers_are_current_ = false;
    }
    if (!values_are_current_) {
        for (Part& part : parts_) {
            part.plan.refresh_values(domain_);
            part.state->plan_values_changed();
        }
        values_are_current_ = true;
    }
}

std::unique_ptr<HaloExchange> Engine::make_exchange(const std::vector<BlockPlacement>& placements) const {
    std::vector<HaloExchange::Member> members;
    for (const Part& part : parts_) {
        members.push_back({part.number, *part.state, part.plan});
    }
    std::vector<HaloExchange::SendRequest> send_requests;
    for (std::size_t k = 0; k < placements.size(); ++k) {
        const Block& other = layout_.blocks()[k];
        const bool is_neighbor = std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
            return are_neighbors(domain_, backend::halo_depth(spec_), part.place, other);
        });
        if (other.rank != comm_->rank() && is_neighbor) {
            send_requests.push_back(
                {int(k), BoundaryHaloPlan(domain_, placements, int(k), backend::phases_of(spec_)).imports()});
        }
    }
    return std::make_unique<HaloExchange>(layout_, members, send_requests, spec_, channel_, *comm_);
}

const std::vector<HaloExchange::Link>& Engine::links() {
    prepare();
    return exchange_->links();
}

void Engine::set_reference_density(double density) {
    if (!(density > 0) || !std::isfinite(density)) {
        throw std::invalid_argument("reference density: " + std::to_string(density) +
                                    " given, must be a positive number");
    }
    domain_.reference_density = density;
    values_are_current_ = false;
}

void Engine::initialize(const double* density, const double* velocity, bool nonequilibrium, const double* temperature) {
    if (temperature != nullptr) {
        check_temperature();
    }
    if (nonequilibrium && !facts_of(spec_).nonequilibrium) {
        throw std::invalid_argument("nonequilibrium: given with the model '" + facts_of(spec_).name +
                                    "', which starts from equilibrium");
    }
    double sums[2] = {0, 0};  // over the whole domain in one order, so that they do not depend on the layout
    for (Index at = 0; at < domain_.cells(); ++at) {
        if (!domain_.solid(at)) {
            sums[0] += density == nullptr ? 1.0 : density[at];
            sums[1] += 1;
        }
    }
    set_reference_density(sums[1] > 0 ? sums[0] / sums[1] : 1.0);
    prepare();
    state_is_set();
    for (const Part& part : parts_) {
        const PaddedBox box(domain_, part.place, nonequilibrium);
        std::vector<std::uint8_t> solid;  // gradients next to solid cells are one-sided
        const auto own_part = [&](const double* field, int components) {
            return field == nullptr || layout_.blocks().size() == 1
                       ? std::vector<double>{}
                       : box.gather<double>(domain_, components,
                                            [&](int d, Index at) { return field[d * domain_.cells() + at]; });
        };
        const auto densities = own_part(density, 1), velocities = own_part(velocity, domain_.D),
                   temperatures = own_part(temperature, 1);
        if (nonequilibrium && !domain_.owner.empty()) {
            solid = box.gather<std::uint8_t>(domain_, 1,
                                             [&](int, Index at) { return std::uint8_t(domain_.solid(at) ? 1 : 0); });
        }
        part.state->initialize({densities.empty() ? density : densities.data(),
                                velocities.empty() ? velocity : velocities.data(),
                                temperatures.empty() ? temperature : temperatures.data(),
                                solid.empty() ? nullptr : solid.data(),
                                nonequilibrium ? box.periodic : nullptr,
                                {box.corner[0], box.corner[1], box.corner[2]},
                                {box.size[0], box.size[1], box.size[2]}});
    }
}

void Engine::state_is_set() {
    halos_are_current_ = boundary_numbers_are_current_ = false;
    is_consistent_ = true;
}

void Engine::set_steps(Index steps) {
    if (steps < 0 || steps > max_steps) {
        throw std::invalid_argument("steps: " + std::to_string(steps) + " given, must be 0 to 2^53");
    }
    steps_ = steps;
}

void Engine::check_steps(Index steps) const {
    if (steps < 0 || steps > max_steps - steps_) {
        throw std::invalid_argument("steps: " + std::to_string(steps) + " given after " + std::to_string(steps_) +
                                    ", must be positive and at most 2^53 together");
    }
    if (!is_consistent_) {
        throw std::runtime_error("an error has left a step unfinished: set the state anew, or load a checkpoint");
    }
}

void Engine::step(Index steps) {
    check_steps(steps);
    prepare();
    is_consistent_ = false;
    run_steps(steps);
    is_consistent_ = true;
    steps_ += steps;
}

void Engine::update_halos() {
    prepare_boundary_numbers();
    for (backend::BlockState* state : states_) {  // the exchange must begin after all work enqueued so far
        state->record_event(backend::EventSource::end_slot);
        state->wait_for(*state, backend::EventSource::end_slot);
    }
    if (!halos_are_current_) {
        exchange_->begin();
        exchange_->end();
        halos_are_current_ = true;
    }
}

void Engine::wait_for_blocks() const {
    for (backend::BlockState* state : states_) {
        state->record_event(backend::EventSource::end_slot);
        state->wait(backend::EventSource::end_slot);
    }
}

void Engine::run_steps(Index steps) {
    update_halos();
    records_timestamps_ = asynchronous_.empty();
    // Each update advances steps_per_launch steps, the last one those that remain.
    const int steps_per_launch = spec_.state->steps_per_launch;
    const Index updates = (steps + steps_per_launch - 1) / steps_per_launch;
    const int steps_of_last = int(steps - (updates - 1) * steps_per_launch);
    const bool times_last = !records_timestamps_ && updates > 0 && layout_.blocks().size() > 1;
    const bool last_is_separate = updates > 0 && (times_last || steps_of_last < steps_per_launch);
    const Index full_updates = last_is_separate ? updates - 1 : updates;
    const auto update = [&] { run_update(steps_per_launch); };
    if (exchange_->needs_host()) {
        for (Index k = 0; k < full_updates; ++k) {
            update();
        }
    } else {
        executor_->run(full_updates, update);
    }
    if (last_is_separate) {
        records_timestamps_ = records_timestamps_ || times_last;
        run_update(steps_of_last);
    }
    wait_for_blocks();
    if (times_last) {
        add_phase_times(double(updates));
    }
    exchange_->signal();
}

void Engine::add_phase_times(double steps) {
    for (const Part& part : parts_) {
        phase_times_.add(PhaseTimes::of_step(*part.state, interior_of(part).count() > 0),
                         steps / double(parts_.size()));
    }
}

backend::RowBox Engine::interior_of(const Part& part) const {
    return has_interiors_ ? engine::interior_of(domain_, backend::halo_depth(spec_), part.place) : backend::RowBox{};
}

bool Engine::overlaps() const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [this](const Part& part) { return interior_of(part).count() > 0; });
}

void Engine::prepare_fields() {
    prepare();
    if (!solid_velocity_is_current_) {
        rebuild_solid_velocity();
    }
}

std::size_t Engine::bytes() const {
    std::size_t sum = domain_.owner.capacity() * sizeof(std::uint16_t) + exchange_->bytes();
    for (const Part& part : parts_) {
        sum += part.state->bytes() + part.plan.bytes() + part.solid.capacity() +
               part.solid_velocity.capacity() * sizeof(double);
    }
    return sum;
}

}  // namespace lbm::engine
