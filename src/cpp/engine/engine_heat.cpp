// The engine's members for temperatures and heat: setting them, fields, and the heat through walls.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "engine.h"
#include "models.h"

namespace lbm::engine {

void Engine::check_thermal() const {
    if (!domain_.is_hybrid_thermal) {
        throw std::invalid_argument("temperature: the fluid has none, as nothing thermal was set up");
    }
}

void Engine::check_temperature() const {
    if (!backend::has_temperature(spec_)) {
        check_thermal();
    }
}

void Engine::set_face_temperature(int face, std::vector<double> temperature) {
    check_temperature();
    if (face < 0 || face >= 2 * domain_.D || domain_.face_thermal[face] != ThermalKind::Isothermal) {
        throw std::invalid_argument("face " + std::to_string(face) + " takes no temperature");
    }
    domain_.face_temperature[face] = std::move(temperature);
    wall_temperature_was_set();
}

void Engine::set_body_temperature(int body, std::vector<double> temperature) {
    check_thermal();
    if (domain_.body_temperature[body].empty() || temperature.empty()) {
        throw std::invalid_argument("only a body that was added with a temperature can be given another");
    }
    domain_.body_temperature[body] = std::move(temperature);
    wall_temperature_was_set();
}

void Engine::set_link_temperature(int body, std::vector<double> temperature) {
    std::vector<double>& present = domain_.body_cuts[std::size_t(body)].temperature;
    if (present.size() != temperature.size()) {
        throw std::invalid_argument("only a body that was added with temperatures of its links can be given others");
    }
    present = std::move(temperature);
    wall_temperature_was_set();
}

void Engine::wall_temperature_was_set() {
    values_are_current_ = false;
    // What changes in time beside it may depend on it too.
    scaled_values_are_listed_ = scaled_values_are_listed_ && !changes_at_walls();
}

void Engine::set_heat_source(const std::vector<double>& source) {
    check_drive(spec_, "heat_source");
    if (source.size() <= 1) {
        for (const Part& part : parts_) {
            part.state->thermal()->set_heat_source(source.empty() ? 0 : source[0], nullptr);
        }
    } else {
        set_heat_source_field(source.data());
    }
}

void Engine::set_heat_source_field(const double* source) {
    check_drive(spec_, "heat_source");
    give_parts(source, window_, 1, [](auto& block, const double* part) { block.thermal()->set_heat_source(0, part); });
}

void Engine::set_temperature(const double* values) {
    check_thermal();
    prepare();
    halos_are_current_ = false;
    give_parts(values, window_, 1, [](auto& block, const double* part) { block.thermal()->set_temperature(part); });
}

template <class T>
void Engine::give_solid_temperature(T* out) const {
    if (domain_.owner.empty()) {
        return;
    }
    for (const Part& part : parts_) {
        for (int z = 0; z < part.place.size[2]; ++z) {
            for (int y = 0; y < part.place.size[1]; ++y) {
                for (int x = 0; x < part.place.size[0]; ++x) {
                    const int at[3] = {part.place.offset[0] + x, part.place.offset[1] + y, part.place.offset[2] + z};
                    if (domain_.solid(at)) {
                        const Index cell = domain_.known_cell(at[0], at[1], at[2]);
                        const auto& own = domain_.body_temperature[domain_.owner[std::size_t(cell)]];
                        const Index in_window =
                            (Index(at[2] - window_.offset[2]) * window_.size[1] + (at[1] - window_.offset[1])) *
                                window_.size[0] +
                            (at[0] - window_.offset[0]);
                        out[in_window] = T(own.empty() ? 0.0 : component(own, 1, 0, cell, domain_.known.cells()));
                    }
                }
            }
        }
    }
}
template void Engine::give_solid_temperature(float* out) const;
template void Engine::give_solid_temperature(double* out) const;

void Engine::prepare_heat() {
    check_thermal();
    prepare();
    if (!halos_are_current_) {
        update_halos();
        wait_for_blocks();
        exchange_->signal();
    }
}

std::vector<double> Engine::column_heat(int face, HeatOf of) {
    if (!backend::is_multispeed(spec_)) {
        throw std::invalid_argument("only walls of the multispeed thermal model have columns");
    }
    supply_incoming();
    std::vector<double> flux(std::size_t(domain_.face_cells(face)));
    const int axis = face / 2, along = 1 - axis, outward = face % 2 == 0 ? -1 : 1;
    for (const Part& part : parts_) {
        const std::vector<backend::WallColumn>& all = part.plan.links().wall_columns;
        const int* size = part.place.size;
        // The columns before cells of the block lie behind each other in the plan.
        const auto is_own = [&](const backend::WallColumn& column) {
            return column.wall.axis == axis && column.wall.outward == outward && column.x >= 0 && column.x < size[0] &&
                   column.y >= 0 && column.y < size[1];
        };
        const auto first = std::find_if(all.begin(), all.end(), is_own);
        std::vector<backend::ColumnHeat> heat(std::size_t(std::find_if_not(first, all.end(), is_own) - first));
        if (heat.empty()) {
            continue;
        }
        part.state->thermal()->column_heat(first - all.begin(), Index(heat.size()), heat.data());
        const int start = part.place.offset[along] + (axis == 0 ? first->y : first->x);
        for (std::size_t k = 0; k < heat.size(); ++k) {
            flux[std::size_t(start) + k] = of == HeatOf::Exchange ? heat[k].exchanged : heat[k].conducted;
        }
    }
    comm_->sum(flux.data(), int(flux.size()));
    return flux;
}

std::vector<double> Engine::heat_flux(int face) {
    if (backend::is_multispeed(spec_)) {
        return column_heat(face, HeatOf::Exchange);
    }
    prepare_heat();
    std::vector<double> flux(std::size_t(domain_.face_cells(face)));
    for (const Part& part : parts_) {
        const WallHeat& wall = part.plan.face_heat(face);
        std::vector<double> each(wall.samples.size());
        part.state->thermal()->heat(wall.samples, each.data());
        for (std::size_t k = 0; k < each.size(); ++k) {
            flux[std::size_t(wall.places[k])] = each[k];
        }
    }
    comm_->sum(flux.data(), int(flux.size()));
    return flux;
}

double Engine::mean_heat_flux(int face) {
    if (backend::is_multispeed(spec_)) {
        const std::vector<double> flux = column_heat(face, HeatOf::Exchange);
        return std::accumulate(flux.begin(), flux.end(), 0.0) / double(flux.size());
    }
    prepare_heat();
    double sums[2] = {0, 0};
    for (const Part& part : parts_) {
        const WallHeat& wall = part.plan.face_heat(face);
        sums[0] += part.state->thermal()->heat(wall.samples, nullptr);
        sums[1] += double(wall.samples.size());
    }
    comm_->sum(sums, 2);
    return sums[1] > 0 ? sums[0] / sums[1] : 0;
}

Engine::BodyHeat Engine::body_heat_flux(int body) {
    prepare_heat();
    BodyHeat heat;
    for (const Part& part : parts_) {
        const WallHeat& wall = part.plan.body_heat(body);
        std::vector<double> each(wall.samples.size());
        part.state->thermal()->heat(wall.samples, each.data());
        for (std::size_t k = 0; k < each.size(); ++k) {
            if (k == 0 || wall.places[k] != wall.places[k - 1]) {
                const Index row = wall.places[k] / domain_.size[0];
                heat.cells.push_back(
                    {int(wall.places[k] % domain_.size[0]), int(row % domain_.size[1]), int(row / domain_.size[1])});
                heat.flux.push_back(0);
                heat.area.push_back(0);
            }
            heat.flux.back() += each[k];
            heat.area.back() += wall.areas[k];
        }
    }
    return heat;
}

Engine::BodyHeatRate Engine::body_heat_rate(int body) {
    prepare_heat();
    double sums[2] = {0, 0};
    for (const Part& part : parts_) {
        const WallHeat& wall = part.plan.body_heat(body);
        sums[0] += part.state->thermal()->heat(wall.samples, nullptr);
        sums[1] = std::accumulate(wall.areas.begin(), wall.areas.end(), sums[1]);
    }
    comm_->sum(sums, 2);
    return {sums[0], sums[1]};
}

double Engine::temperature_change() {
    check_temperature();
    double largest = 0;
    for (const Part& part : parts_) {
        largest = std::max(largest, part.state->thermal()->temperature_change());
    }
    return comm_->maximum(largest);
}

}  // namespace lbm::engine
