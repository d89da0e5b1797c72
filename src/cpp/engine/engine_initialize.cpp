// The engine's members that set an initial state, and bodies in it.
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

#include "engine.h"
#include "models.h"
#include "ordered_sum.h"
#include "padded_box.h"

namespace lbm::engine {

namespace {

/// Throws unless the links are some of known cells, in rising order, at distances above 0 up to 1.
void check_cuts(const CutLinks& cuts, Index cells, int Q, int D) {
    const auto is_distance = [](double q) { return q > 0 && q <= 1; };
    if (cuts.distance.size() != cuts.links.size() ||
        (!cuts.velocity.empty() && cuts.velocity.size() != cuts.links.size() * std::size_t(D)) ||
        (!cuts.temperature.empty() && cuts.temperature.size() != cuts.links.size()) ||
        !std::all_of(cuts.distance.begin(), cuts.distance.end(), is_distance) ||
        std::adjacent_find(cuts.links.begin(), cuts.links.end(), std::greater_equal<>()) != cuts.links.end() ||
        (cuts.count() > 0 && (cuts.links.front() < 0 || cuts.links.back() >= cells * Q))) {
        throw std::invalid_argument("links: must be of known cells, in rising order, at distances above 0 up to 1");
    }
}

}  // namespace

int Engine::add_body(const std::vector<bool>& mask, std::vector<double> velocity, std::vector<double> temperature,
                     CutLinks cuts) {
    if (!temperature.empty()) {
        check_thermal();
    }
    check_bodies(spec_);
    if (spec_.state->steps_per_launch > 1 && !spec_.state->keeps_moments) {
        throw std::invalid_argument("bodies: a state that advances several steps a launch takes none");
    }
    if (steps_ > 0) {
        throw std::invalid_argument("bodies must be added before the first step");
    }
    if (bodies() == max_bodies) {
        throw std::invalid_argument("at most " + std::to_string(max_bodies) + " bodies");
    }
    if (temperature.empty() && !cuts.temperature.empty()) {
        throw std::invalid_argument("links: have temperatures, but the body has none");
    }
    const auto cells = std::size_t(domain_.known.cells());
    check_cuts(cuts, Index(cells), population_count(), domain_.D);
    if (domain_.owner.empty()) {
        domain_.owner.assign(cells, no_body);
    }
    for (std::size_t at = 0; at < cells; ++at) {
        if (mask[at] && domain_.owner[at] != no_body) {
            throw std::invalid_argument("mask: the body overlaps another one");
        }
    }
    for (std::size_t at = 0; at < cells; ++at) {
        if (mask[at]) {
            domain_.owner[at] = std::uint16_t(bodies());
        }
    }
    domain_.body_velocity.push_back(std::move(velocity));
    domain_.body_scaled.emplace_back();
    domain_.body_cuts.push_back(std::move(cuts));
    domain_.body_temperature.push_back(std::move(temperature));
    domain_.add_sheets();
    plan_is_current_ = false;
    mark_solid();
    return bodies() - 1;
}

void Engine::mark_solid() {
    const bool moving = std::any_of(domain_.body_velocity.begin(), domain_.body_velocity.end(),
                                    [](const auto& velocity) { return !velocity.empty(); });
    solid_velocity_is_current_ = !moving;
    for (Part& part : parts_) {
        part.solid.resize(std::size_t(part.place.cells()));
        part.solid_velocity.assign(moving ? std::size_t(domain_.D * part.place.cells()) : 0, 0.0);
        for_rows(domain_.known, part.place, 1, [&](Index from, Index to, Index count) {
            for (Index k = 0; k < count; ++k) {
                part.solid[std::size_t(to + k)] = domain_.owner[std::size_t(from + k)] != no_body ? 1 : 0;
            }
        });
        part.state->set_solid(part.solid.data(), moving ? part.solid_velocity.data() : nullptr);
    }
}

void Engine::rebuild_solid_velocity() {
    const Index cells = domain_.known.cells();
    for (Part& part : parts_) {
        for_rows(domain_.known, part.place, domain_.D, [&](Index from, Index to, Index count) {
            const Index d = from / cells;
            for (Index k = 0; k < count; ++k) {
                const Index at = from - d * cells + k;
                const std::uint16_t body = domain_.owner[std::size_t(at)];
                part.solid_velocity[std::size_t(to + k)] =
                    body != no_body ? component(domain_.body_velocity[body], domain_.D, int(d), at, cells) : 0;
            }
        });
        part.state->set_solid(part.solid.data(), part.solid_velocity.data());
    }
    solid_velocity_is_current_ = true;
}

double Engine::mean_density(const InitialValues& given, const Box& box) const {
    double fluid_cells = 0;
    for (const Part& part : parts_) {
        fluid_cells += double(part.place.cells() - std::count(part.solid.begin(), part.solid.end(), 1));
    }
    comm_->sum(&fluid_cells, 1);
    if (fluid_cells == 0) {
        return 1;
    }
    if (given.arrays.density != nullptr) {
        return sum_of_fluid_cells(*given.arrays.density) / fluid_cells;
    }
    if (given.density == nullptr) {
        return repeated_sum(given.uniform_density, Index(fluid_cells)) / fluid_cells;
    }
    const auto part_of = [&](int block) -> const Part& {
        return *std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) { return part.number == block; });
    };
    const auto density_of = [&](const Part& part, int y, int z) {
        const Index row = Index(z - box.offset[2]) * box.size[1] + (y - box.offset[1]);
        return given.density + row * box.size[0] + (part.place.offset[0] - box.offset[0]);
    };
    const auto solid_of = [](const Part& part, int y, int z) {
        const int(&offset)[3] = part.place.offset;
        const Index row = Index(z - offset[2]) * part.place.size[1] + (y - offset[1]);
        return part.solid.empty() ? nullptr : &part.solid[std::size_t(row * part.place.size[0])];
    };
    RowValues values;
    values.add = [&](const RowRun& run, double sum) {
        const Part& part = part_of(run.blocks[0]);
        for (int z = run.z[0]; z < run.z[1]; ++z) {
            for (int y = run.y[0]; y < run.y[1]; ++y) {
                const double* density = density_of(part, y, z);
                const std::uint8_t* solid = solid_of(part, y, z);
                for (int x = 0; x < part.place.size[0]; ++x) {
                    if (solid == nullptr || solid[x] == 0) {
                        sum += density[x];
                    }
                }
            }
        }
        return sum;
    };
    values.copy = [&](int block, int y, int z, double* row) {
        const Part& part = part_of(block);
        const double* density = density_of(part, y, z);
        const std::uint8_t* solid = solid_of(part, y, z);
        for (int x = 0; x < part.place.size[0]; ++x) {
            row[x] = solid == nullptr || solid[x] == 0 ? density[x] : 0;
        }
    };
    return ordered_sum(layout_, *comm_, values) / fluid_cells;
}

void Engine::initialize(const double* density, const double* velocity, bool nonequilibrium, const double* temperature) {
    InitialValues given;
    given.density = density;
    given.velocity = velocity;
    given.temperature = temperature;
    initialize(given, nonequilibrium);
}

void Engine::initialize(const InitialValues& given, bool nonequilibrium) {
    if (given.temperature != nullptr || given.arrays.temperature != nullptr || given.uniform_temperature) {
        check_temperature();
    }
    if (nonequilibrium && !facts_of(spec_).nonequilibrium) {
        throw std::invalid_argument("nonequilibrium: given with the model '" + facts_of(spec_).name +
                                    "', which starts from equilibrium");
    }
    const Box& box = initial_box(nonequilibrium);
    const backend::GpuFields& arrays = given.arrays;
    if (arrays.density != nullptr) {
        check_gpu_array("density", *arrays.density, 0, box);
    }
    if (arrays.velocity != nullptr) {
        check_gpu_array("velocity", *arrays.velocity, domain_.D, box);
    }
    if (arrays.temperature != nullptr) {
        check_gpu_array("temperature", *arrays.temperature, 0, box);
    }
    set_reference_density(mean_density(given, box));
    prepare();
    state_is_set();
    backend::InitialFields fields = fields_at_rest(box);
    fields.density = given.density;
    fields.velocity = given.velocity;
    fields.temperature = given.temperature;
    fields.uniform_density = given.uniform_density;
    std::copy(given.uniform_velocity, given.uniform_velocity + 3, fields.uniform_velocity);
    fields.uniform_temperature = given.uniform_temperature.value_or(fields.uniform_temperature);
    for (const Part& part : parts_) {
        if (nonequilibrium && (given.velocity != nullptr || arrays.velocity != nullptr)) {
            initialize_with_gradients(part, fields, arrays);
        } else {
            backend::InitialFields own = fields;
            for (int a = 0; a < 3; ++a) {
                own.corner[a] = part.place.offset[a] - box.offset[a];
            }
            backend::GpuFields of_box = arrays;
            std::copy(box.offset, box.offset + 3, of_box.corner);
            initialize(part, own, of_box);
        }
    }
}

void Engine::initialize(const Part& part, const backend::InitialFields& fields, const backend::GpuFields& arrays) {
    if (arrays.density != nullptr || arrays.velocity != nullptr || arrays.temperature != nullptr) {
        part.state->gpu_inputs()->initialize(fields, arrays);
    } else {
        part.state->initialize(fields);
    }
}

void Engine::initialize_with_gradients(const Part& part, backend::InitialFields fields, backend::GpuFields arrays) {
    const PaddedBox box(domain_, part.place);
    const bool alone = layout_.blocks().size() == 1;
    const auto own_part = [&](const double* field, int components) {
        return field == nullptr || alone ? std::vector<double>{}
                                         : box.gather<double>(domain_, components, [&](int d, Index at) {
                                               return field[d * domain_.known.cells() + at];
                                           });
    };
    const auto densities = own_part(fields.density, 1), velocities = own_part(fields.velocity, domain_.D),
               temperatures = own_part(fields.temperature, 1);
    std::vector<std::uint8_t> solid;  // gradients next to solid cells are one-sided
    if (!domain_.owner.empty()) {
        solid = box.gather<std::uint8_t>(
            domain_, 1, [&](int, Index at) { return std::uint8_t(domain_.owner[std::size_t(at)] != no_body ? 1 : 0); });
    }
    fields.density = densities.empty() ? fields.density : densities.data();
    fields.velocity = velocities.empty() ? fields.velocity : velocities.data();
    fields.temperature = temperatures.empty() ? fields.temperature : temperatures.data();
    fields.solid = solid.empty() ? nullptr : solid.data();
    fields.periodic = box.periodic;
    std::copy(box.corner, box.corner + 3, fields.corner);
    std::copy(box.size, box.size + 3, fields.size);
    std::copy(box.first, box.first + 3, arrays.corner);
    initialize(part, fields, arrays);
}

backend::InitialFields Engine::fields_at_rest(const Box& box) const {
    backend::InitialFields fields{};
    std::copy(box.size, box.size + 3, fields.size);
    if (backend::is_multispeed(spec_)) {
        fields.uniform_temperature = backend::with_stencil(spec_.stencil, [](auto s) { return decltype(s)::cs2; });
    }
    return fields;
}

}  // namespace lbm::engine
