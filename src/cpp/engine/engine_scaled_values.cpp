// The engine's members for what changes in time as a fixed part times a factor of the step. Blocks that can do so set
// the values of wall links and boundary cells themselves; all else is set here before each step.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine.h"
#include "models.h"

namespace lbm::engine {

void Engine::scale_face_value(int face, boundary::Value kind, int series, std::vector<double> part) {
    set_face_value(face, kind, kind == boundary::Value::Velocity ? "velocity" : "number", part);
    domain_.face_scaled[face] = {std::move(part), series};
    scaling_is_new();
}

void Engine::scale_body_velocity(int body, int series, std::vector<double> part) {
    set_body_velocity(body, part);
    domain_.body_scaled[std::size_t(body)] = {std::move(part), series};
    scaling_is_new();
}

void Engine::scale_face_temperature(int face, int series, std::vector<double> part, double offset) {
    set_face_temperature(face, part);
    factors_.replace({ScaledField::Of::FaceTemperature, face, series, std::move(part), offset});
    scaling_is_new();
}

void Engine::scale_body_temperature(int body, int series, std::vector<double> part, double offset) {
    set_body_temperature(body, part);
    factors_.replace({ScaledField::Of::BodyTemperature, body, series, std::move(part), offset});
    scaling_is_new();
}

void Engine::scale_force(int series, std::vector<double> part) {
    if (series >= 0) {
        check_drive(spec_, "force");
        factors_.replace({ScaledField::Of::Force, 0, series, std::move(part), 0});
    } else {
        factors_.remove(ScaledField::Of::Force, 0);
    }
    scaling_is_new();
}

void Engine::scaling_is_new() {
    scaled_values_are_listed_ = false;
    factors_.series = 0;  // until new ones are given
    factors_.table.clear();
}

void Engine::set_factors(Index first, int series, std::vector<double> table) {
    int needed = 0;
    for (const ScaledField& field : factors_.fields) {
        needed = std::max(needed, field.series + 1);
    }
    for (int face = 0; face < 2 * domain_.D; ++face) {
        needed = std::max(needed, domain_.face_scaled[face].series + 1);
    }
    for (const ScaledValue& value : domain_.body_scaled) {
        needed = std::max(needed, value.series + 1);
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
}

bool Engine::changes_in_time() const {
    return !factors_.fields.empty() ||
           std::any_of(domain_.face_scaled, domain_.face_scaled + 6, [](const auto& v) { return v.series >= 0; }) ||
           std::any_of(domain_.body_scaled.begin(), domain_.body_scaled.end(),
                       [](const auto& v) { return v.series >= 0; });
}

Index Engine::steps_at_once(Index steps) const {
    const bool by_host = !factors_.fields.empty() || !synchronous_.empty() || backend::keeps_velocity(spec_);
    return changes_in_time() && by_host ? std::min(steps, Index(1)) : steps;
}

void Engine::prepare_scaled_values() {
    if (scaled_values_are_listed_) {
        return;
    }
    for (Part& part : parts_) {
        part.plan.list_scaled_values(domain_);
        if (part.state->scaled() != nullptr) {
            part.state->set_plan(part.plan.links());
        }
    }
    scaled_values_are_listed_ = true;
}

void Engine::check_factors(Index steps) const {
    if (steps > 0 && changes_in_time() && !factors_.covers(steps_, steps)) {
        throw std::logic_error("factors: none given of the " + std::to_string(steps) + " steps after " +
                               std::to_string(steps_));
    }
}

void Engine::bring_values_to(Index step) {
    if (!factors_.covers(step, 0)) {
        return;
    }
    const double* factors = factors_.at(step);
    const bool has_gradients = backend::keeps_velocity(spec_);
    bool changes_fields = false;
    const auto product = [&](const std::vector<double>& part, int series, double offset) {
        std::vector<double> values(part.size());
        std::transform(part.begin(), part.end(), values.begin(),
                       [&, factor = factors[series]](double p) { return p * factor - offset; });
        return values;
    };
    for (const ScaledField& field : factors_.fields) {
        if (field.of == ScaledField::Of::Force) {
            set_force(product(field.part, field.series, field.offset));
            continue;
        }
        auto& values = field.of == ScaledField::Of::FaceTemperature
                           ? domain_.face_temperature[field.index]
                           : domain_.body_temperature[std::size_t(field.index)];
        values = product(field.part, field.series, field.offset);
        changes_fields = true;
    }
    if (has_gradients) {
        for (int face = 0; face < 2 * domain_.D; ++face) {
            if (const ScaledValue& scaled = domain_.face_scaled[face]; scaled.series >= 0) {
                domain_.face_value[face] = product(scaled.part, scaled.series, 0);
                changes_fields = true;
            }
        }
        for (std::size_t body = 0; body < domain_.body_scaled.size(); ++body) {
            if (const ScaledValue& scaled = domain_.body_scaled[body]; scaled.series >= 0) {
                domain_.body_velocity[body] = product(scaled.part, scaled.series, 0);
                changes_fields = true;
            }
        }
    }
    for (Part& part : parts_) {
        if (changes_fields) {
            part.plan.refresh_fields_at_walls(domain_);
        }
        backend::ScaledState* scaled = part.state->scaled();
        if (changes_fields && scaled != nullptr) {
            part.state->plan_values_changed();
        }
        if (scaled != nullptr) {
            scaled->set_row(step - factors_.first);
        } else {
            part.plan.scale(domain_, factors);
        }
    }
}

}  // namespace lbm::engine
