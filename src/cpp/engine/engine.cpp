// Builds the blocks, plans and exchange of a simulation and steps them.
#include "engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "interior.h"
#include "models.h"
#include "moment_force.h"
#include "sponge_plan.h"

namespace lbm::engine {
namespace {

/// Boundaries are applied between launches only, so a launch of several steps allows neither walls nor a temperature,
/// nor gradients of velocities. Blocks of moments apply formulas of links themselves.
backend::BlockSpec checked(backend::BlockSpec spec, const Domain& domain) {
    const bool periodic = std::all_of(domain.faces, domain.faces + 2 * domain.D, is_periodic);
    if (spec.state->keeps_moments) {
        const std::vector<std::string> known = moment_faces();
        for (int face = 0; face < 2 * domain.D; ++face) {
            const std::string name = with_condition(domain.faces[face], [](auto c) { return decltype(c)::name; });
            if (std::find(known.begin(), known.end(), name) == known.end()) {
                throw std::invalid_argument("state: 'moments' given with a face '" + name + "', takes " +
                                            listed(known));
            }
        }
        return spec;
    }
    const bool plain = periodic && !domain.is_hybrid_thermal && !backend::keeps_velocity(spec);
    if (spec.state->steps_per_launch > 1 && !plain) {
        throw std::invalid_argument("state: '" + std::string(spec.state->name) +
                                    "' advances several steps a launch, which takes periodic faces, no temperature and "
                                    "nothing of velocity gradients");
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
      window_(layout_.window(comm_->rank())),
      parts_(make_parts(spec_, layout_, comm_->rank(), device_)),
      channel_(setup.channel),
      has_interiors_(layout_.blocks().size() > 1 && has_interiors(layout_, setup.schedule)),
      may_be_late_(channel_.empty() || channel_ == "direct") {
    domain_.known = known_around(domain_, window_);
    domain_.compressibility = spec_.compressibility;
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
            state->initialize(fields_at_rest({{0, 0, 0}, {a.nx, a.ny, a.nz}}));
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

std::map<std::string, std::size_t> Engine::memory_needed(const Setup& setup, int rank,
                                                         const std::vector<Sponge>& sponges) {
    const backend::BlockSpec whole = block_spec(setup);
    const Layout layout =
        setup.blocks.empty() ? Layout::single(whole.size, setup.device.name) : Layout(whole.size, setup.blocks);
    std::map<std::string, std::size_t> needed;
    for (const Block& block : layout.blocks()) {
        if (block.rank == rank) {
            const int(&at)[3] = block.offset;
            const int(&size)[3] = block.size;
            const Index damped =
                cells_in_sponges(whole.size, sponges, {{at[0], at[1], at[2]}, {size[0], size[1], size[2]}});
            needed[block.device] += backend::memory_needed(part_of(whole, block), block.device) +
                                    std::size_t(damped) * sizeof(backend::SpongeCell);
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

void Engine::set_body_velocity(int body, std::vector<double> velocity) {
    if (domain_.body_velocity[body].empty() || velocity.empty()) {
        throw std::invalid_argument("only a body that was added with a velocity can be given another");
    }
    domain_.body_velocity[body] = std::move(velocity);
    values_are_current_ = solid_velocity_is_current_ = false;
}

void Engine::set_link_velocity(int body, std::vector<double> velocity) {
    std::vector<double>& present = domain_.body_cuts[std::size_t(body)].velocity;
    if (present.size() != velocity.size()) {
        throw std::invalid_argument("only a body that was added with velocities of its links can be given others");
    }
    present = std::move(velocity);
    values_are_current_ = false;
}

void Engine::check_face_takes(int face, boundary::Value kind, const std::string& what) const {
    if (face < 0 || face >= 2 * domain_.D ||
        with_condition(domain_.faces[face], [](auto c) { return decltype(c)::value; }) != kind) {
        throw std::invalid_argument("face " + std::to_string(face) + " takes no " + what);
    }
}

void Engine::set_face_value(int face, boundary::Value kind, const std::string& what, std::vector<double> values) {
    check_face_takes(face, kind, what);
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
    const bool is_uniform = force.size() == std::size_t(domain_.D);
    give_force(is_uniform ? force.data() : nullptr, is_uniform || force.empty() ? nullptr : force.data(), -1);
}

void Engine::give_force(const double* uniform, const double* field, int series) {
    check_drive(spec_, "force");
    if (spec_.state->keeps_moments && field != nullptr) {
        for (Part& part : parts_) {
            const backend::MomentForceRows rows(part.state->address(), domain_.D);
            part.state->set_force(nullptr, force_around(domain_, part.place, rows, field).data(), series);
        }
    } else if (field != nullptr && spec_.state->steps_per_launch > 1) {  // it would be needed around blocks too
        throw std::invalid_argument("force: a state that advances several steps a launch takes one that is uniform");
    } else {
        give_parts(field, window_, domain_.D,
                   [&](auto& block, const double* part) { block.set_force(uniform, part, series); });
    }
    force_is_scaled_by(series);
}

void Engine::force_is_scaled_by(int series) {
    if (series >= 0 || factors_.force_series >= 0) {
        factors_.force_series = series;
        factors_.forget();
    }
}

void Engine::prepare() {
    if (!plan_is_current_) {
        std::vector<BlockPlacement> placements;
        for (const Block& block : layout_.blocks()) {
            const int(&offset)[3] = block.offset;
            const backend::BlockSpec spec = part_of(spec_, block);
            BlockPlacement placement{{offset[0], offset[1], offset[2]}, backend::block_address(spec, block.device)};
            std::copy(spec.stored, spec.stored + 6, placement.stored);
            placement.columns = backend::end_columns(spec, block.device);
            placement.velocity = backend::velocity_rows(spec, block.device);
            placement.keeps_moments = spec.state->keeps_moments;
            const backend::Interior interior = interior_of(block);
            if (interior.defers_ends) {
                placement.late_rows = interior.rows;
            }
            placement.number_elements = int(backend::size_of(spec.precision) / backend::size_of(spec.storage));
            placements.push_back(placement);
        }
        for (Part& part : parts_) {
            part.state->set_interior(interior_of(part.place));
            part.plan = BoundaryHaloPlan(domain_, placements, part.number, backend::phases_of(spec_));
            if (backend::TurbulenceState* turbulence = part.state->turbulence()) {
                turbulence->set_steps(steps_);  // by which it knows what the next steps launch
            }
            if (changes_in_time()) {
                part.plan.list_scaled_values(domain_, factors_.fields);
            }
            part.state->set_plan(part.plan.links());
        }
        scaled_values_are_listed_ = true;
        if (placements.size() > 1) {
            exchange_ = make_exchange(placements);
        }
        if (!exchange_->late_is_possible()) {
            may_be_late_ = false;
            prepare();
            return;
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
    prepare_scaled_values();
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
                {int(k),
                 BoundaryHaloPlan(domain_, placements, int(k), backend::phases_of(spec_), PlanOf::Imports).imports()});
        }
    }
    return std::make_unique<HaloExchange>(layout_, placements, members, send_requests, spec_, channel_, *comm_);
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
    scaled_values_are_listed_ = !changes_in_time();
}

void Engine::state_is_set() {
    halos_are_current_ = boundary_numbers_are_current_ = velocity_is_current_ = false;
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
    check_factors(steps);
    prepare();
    untimed_updates_ = 0;
    do {
        const Index part = steps_to_sample(steps);
        is_consistent_ = false;
        bring_factors_to(steps_);
        run_steps(steps_, part, part < steps && goes_on_without_waiting());
        if (part < steps) {
            bring_factors_to(steps_ + part);
        } else {
            bring_values_to(steps_ + part);
        }
        is_consistent_ = true;
        count_steps(part);
        steps -= part;
    } while (steps > 0);
}

bool Engine::goes_on_without_waiting() const { return comm_->size() == 1 && synchronous_.empty(); }

void Engine::remove_sampler(const std::shared_ptr<Sampler>& sampler) {
    samplers_.erase(std::remove(samplers_.begin(), samplers_.end(), sampler), samplers_.end());
}

Index Engine::steps_to_sample(Index steps) const {
    for (const auto& sampler : samplers_) {
        steps = std::min(steps, sampler->next_after(steps_) - steps_);
    }
    return steps;
}

void Engine::count_steps(Index steps) {
    const Index before = steps_;
    steps_ += steps;
    const auto is_due = [&](const auto& sampler) { return steps > 0 && sampler->next_after(before) == steps_; };
    if (std::any_of(samplers_.begin(), samplers_.end(),
                    [&](const auto& sampler) { return is_due(sampler) && sampler->reads_incoming(); })) {
        supply_incoming();
    }
    for (const auto& sampler : samplers_) {
        if (is_due(sampler)) {
            sampler->sample(steps_);
        }
    }
}

void Engine::update_halos() {
    prepare_boundary_numbers();
    prepare_velocity();
    if (layout_.blocks().size() > 1) {  // the exchange must begin after all work enqueued so far
        for (backend::BlockState* state : states_) {
            state->record_event(backend::EventSource::end_slot);
            state->wait_for(*state, backend::EventSource::end_slot);
        }
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

void Engine::run_steps(Index first, Index steps, bool more_follow) {
    update_halos();
    records_timestamps_ = asynchronous_.empty();
    // Each update advances steps_per_launch steps, the last one those that remain.
    const int steps_per_launch = spec_.state->steps_per_launch;
    const Index updates = (steps + steps_per_launch - 1) / steps_per_launch;
    const int steps_of_last = int(steps - (updates - 1) * steps_per_launch);
    const bool times_last =
        !more_follow && !records_timestamps_ && updates > 0 && (layout_.blocks().size() > 1 || times_single_block_);
    const bool last_is_separate = updates > 0 && (times_last || steps_of_last < steps_per_launch);
    const Index full_updates = last_is_separate ? updates - 1 : updates;
    const bool sets_values = sets_values_of_updates();
    const auto update = [&] {
        if (sets_values) {
            set_values_of_update(first);
            first += steps_per_launch;
        }
        run_update(steps_per_launch);
    };
    if (exchange_->needs_host() || sets_values) {
        for (Index k = 0; k < full_updates; ++k) {
            update();
        }
    } else {
        executor_->run(full_updates, update);
    }
    if (last_is_separate) {
        records_timestamps_ = records_timestamps_ || times_last;
        if (sets_values) {
            set_values_of_update(first);
        }
        run_update(steps_of_last);
    }
    untimed_updates_ += updates;
    if (more_follow) {
        if (layout_.blocks().size() > 1) {
            for (backend::BlockState* state : states_) {
                state->record_event(backend::EventSource::end_slot);  // which main streams, those of samples, wait for
            }
        }
        return;
    }
    wait_for_blocks();
    if (times_last) {
        add_phase_times(double(untimed_updates_));
    }
    untimed_updates_ = 0;
    exchange_->signal();
}

void Engine::add_phase_times(double steps) {
    for (const Part& part : parts_) {
        phase_times_.add(PhaseTimes::of_step(*part.state, !interior_of(part.place).empty()),
                         steps / double(parts_.size()));
    }
}

backend::Interior Engine::interior_of(const Block& block) const {
    return has_interiors_ ? engine::interior_of(domain_, spec_, block, may_be_late_) : backend::Interior{};
}

bool Engine::overlaps() {
    prepare();  // which finds out whether interiors may be late
    return std::any_of(parts_.begin(), parts_.end(),
                       [this](const Part& part) { return !interior_of(part.place).empty(); });
}

void Engine::prepare_fields() {
    prepare();
    if (!solid_velocity_is_current_) {
        rebuild_solid_velocity();
    }
}

std::size_t Engine::bytes() const {
    std::size_t sum = domain_.bytes() + exchange_->bytes();
    for (const Part& part : parts_) {
        sum += part.state->bytes() + part.plan.bytes() + part.solid.capacity() +
               part.solid_velocity.capacity() * sizeof(double);
    }
    return sum;
}

}  // namespace lbm::engine
