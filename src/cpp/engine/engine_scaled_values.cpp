// The engine's members for what changes in time as a fixed part times a factor of the step. Blocks compute the force
// and the values of wall links and boundary cells themselves; those on GPUs also what depends on temperatures and
// velocities of walls, which is set here for others before each update.
#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine.h"
#include "models.h"

namespace lbm::engine {

namespace {

/// Throws unless the numbers of a value are those of all places, or of some places of a body.
void check_numbers(const ScaledValue& value, int components, Index count) {
    const auto given = Index(value.places.size());
    const bool in_order =
        std::adjacent_find(value.places.begin(), value.places.end(), std::greater_equal<>()) == value.places.end();
    if (value.has_numbers() && (value.numbers != components * (given > 0 ? given : count) || !in_order ||
                                (given > 0 && (value.places.front() < 0 || value.places.back() >= count)))) {
        throw std::invalid_argument("numbers: " + std::to_string(value.numbers) + " given, must be " +
                                    std::to_string(components) + " for each of " + std::to_string(count) +
                                    " places, or of some in rising order");
    }
}

/// Throws unless `values` are given for each place, among which those of a value lie.
void check_all_places(const ScaledValue& value, const std::vector<double>& values, int components, Index count) {
    check_numbers(value, components, count);
    if (value.has_numbers() && Index(values.size()) != components * count) {
        throw std::invalid_argument("places: given, but the value of the body is uniform");
    }
}

}  // namespace

void Engine::scale_face_value(int face, boundary::Value kind, ScaledValue value) {
    check_face_takes(face, kind, kind == boundary::Value::Velocity ? "velocity" : "number");
    check_numbers(value, domain_.components_of(face), domain_.face_cells(face));
    if (!value.has_numbers()) {
        domain_.face_value[face] = value.part;
        values_are_current_ = false;
    }
    domain_.face_scaled[face] = std::move(value);
    scaling_is_new();
}

void Engine::scale_body_velocity(int body, ScaledValue value) {
    if (value.has_numbers()) {
        check_all_places(value, domain_.body_velocity[std::size_t(body)], domain_.D, domain_.known.cells());
    } else {
        set_body_velocity(body, value.part);
    }
    domain_.body_scaled[std::size_t(body)] = std::move(value);
    scaling_is_new();
}

void Engine::scale_link_velocity(int body, ScaledValue value) {
    CutLinks& cuts = domain_.body_cuts[std::size_t(body)];
    check_all_places(value, cuts.velocity, domain_.D, cuts.count());
    if (!value.has_numbers()) {
        set_link_velocity(body, value.part);
    }
    cuts.scaled = std::move(value);
    scaling_is_new();
}

void Engine::scale_face_temperature(int face, ScaledValue value, double offset) {
    check_numbers(value, 1, domain_.face_cells(face));
    set_face_temperature(face, value.has_numbers() ? domain_.face_temperature[face] : value.part);
    factors_.replace({ScaledField::Of::FaceTemperature, face, std::move(value), offset});
    scaling_is_new();
}

void Engine::scale_body_temperature(int body, ScaledValue value, double offset) {
    auto& present = domain_.body_temperature[std::size_t(body)];
    check_all_places(value, present, 1, domain_.known.cells());
    set_body_temperature(body, value.has_numbers() ? present : value.part);
    factors_.replace({ScaledField::Of::BodyTemperature, body, std::move(value), offset});
    scaling_is_new();
}

void Engine::scale_link_temperature(int body, ScaledValue value, double offset) {
    const CutLinks& cuts = domain_.body_cuts[std::size_t(body)];
    check_all_places(value, cuts.temperature, 1, cuts.count());
    set_link_temperature(body, value.has_numbers() ? cuts.temperature : value.part);
    factors_.replace({ScaledField::Of::LinkTemperature, body, std::move(value), offset});
    scaling_is_new();
}

void Engine::scale_force(int series, const double* uniform, const double* field, double factor, double before) {
    if (spec_.state->steps_per_launch > 1 && !spec_.state->keeps_moments) {
        throw std::invalid_argument("force: must not change in time with a state that advances several steps a launch");
    }
    give_force(uniform, field, series);
    set_force_factor(factor, before);
}

void Engine::set_force_factor(double factor, double before) {
    for (backend::BlockState* state : states_) {
        if (backend::ScaledState* scaled = state->scaled()) {
            if (spec_.state->keeps_moments) {
                scaled->set_force_factor(before);
            }
            scaled->set_force_factor(factor);
        }
    }
}

void Engine::scaling_is_new() {
    scaled_values_are_listed_ = false;
    factors_.forget();
}

void Engine::set_factors(Index first, int series, std::vector<double> table) {
    int needed = factors_.force_series + 1;
    for (const ScaledField& field : factors_.fields) {
        needed = std::max(needed, field.value.end());
    }
    for (int face = 0; face < 2 * domain_.D; ++face) {
        needed = std::max(needed, domain_.face_scaled[face].end());
    }
    for (std::size_t body = 0; body < domain_.body_scaled.size(); ++body) {
        needed = std::max({needed, domain_.body_scaled[body].end(), domain_.body_cuts[body].scaled.end()});
    }
    for (const backend::MovingBodyData& body : moving_) {
        needed = std::max(needed, body.end());
    }
    if (first < 0 || series != needed || series == 0 || table.empty() || table.size() % std::size_t(series) != 0 ||
        !std::all_of(table.begin(), table.end(), [](double factor) { return std::isfinite(factor); })) {
        throw std::invalid_argument("factors: must be finite, " + std::to_string(needed) + " for each step");
    }
    factors_.first = first;
    factors_.series = series;
    factors_.table = std::move(table);
    for (backend::BlockState* state : states_) {
        if (backend::ScaledState* scaled = state->scaled()) {
            scaled->set_factors(factors_.table.data(), factors_.rows(), series);
        }
    }
    bring_factors_to(steps_);
}

bool Engine::flow_values_change() const {
    return std::any_of(domain_.face_scaled, domain_.face_scaled + 6, [](const auto& v) { return v.series >= 0; }) ||
           std::any_of(domain_.body_scaled.begin(), domain_.body_scaled.end(),
                       [](const auto& v) { return v.series >= 0; });
}

bool Engine::changes_in_time() const {
    return factors_.force_series >= 0 || !factors_.fields.empty() || flow_values_change() || !moving_.empty();
}

bool Engine::changes_at_walls() const {
    return !factors_.fields.empty() || (backend::keeps_velocity(spec_) && flow_values_change());
}

void Engine::set_values_of_update(Index step) {
    bring_walls_to(step, [](const Part& part) { return !part.state->is_asynchronous(); });
}

void Engine::prepare_scaled_values() {
    if (scaled_values_are_listed_) {
        return;
    }
    for (Part& part : parts_) {
        part.plan.list_scaled_values(domain_, factors_.fields);
        part.state->set_plan(part.plan.links());
    }
    scaled_values_are_listed_ = true;
}

void Engine::check_factors(Index steps) const {
    if (steps > 0 && changes_in_time() && !factors_.covers(steps_, steps)) {
        throw std::logic_error("factors: none given of the " + std::to_string(steps) + " steps after " +
                               std::to_string(steps_));
    }
}

void Engine::bring_factors_to(Index step) {
    if (factors_.covers(step, 0)) {
        for (backend::BlockState* state : states_) {
            if (backend::ScaledState* scaled = state->scaled()) {
                scaled->set_row(step - factors_.first);
            }
        }
    }
}

void Engine::bring_values_to(Index step) {
    bring_factors_to(step);
    if (changes_at_walls() && factors_.covers(step, 0)) {
        bring_walls_to(step, [](const Part&) { return true; });
    }
}

template <class Chosen>
void Engine::bring_walls_to(Index step, Chosen&& chosen) {
    const double* factors = factors_.at(step);
    const auto set = [&](const ScaledValue& scaled, std::vector<double>& values, double offset) {
        if (scaled.series >= 0) {
            scaled.set(values, factors, offset);
        }
    };
    for (const ScaledField& field : factors_.fields) {
        if (field.of == ScaledField::Of::FaceTemperature) {
            set(field.value, domain_.face_temperature[field.index], field.offset);
        } else if (field.of == ScaledField::Of::BodyTemperature) {
            set(field.value, domain_.body_temperature[std::size_t(field.index)], field.offset);
        } else {
            set(field.value, domain_.body_cuts[std::size_t(field.index)].temperature, field.offset);
        }
    }
    if (backend::keeps_velocity(spec_)) {
        for (int face = 0; face < 2 * domain_.D; ++face) {
            set(domain_.face_scaled[face], domain_.face_value[face], 0);
        }
        for (std::size_t body = 0; body < domain_.body_scaled.size(); ++body) {
            set(domain_.body_scaled[body], domain_.body_velocity[body], 0);
        }
    }
    for (Part& part : parts_) {
        if (chosen(part)) {
            part.plan.refresh_fields_at_walls(domain_);
            part.state->heat_samples_changed();
        }
    }
}

}  // namespace lbm::engine
