// The heat that a fluid cell gets from the bodies beside it, as samples of two temperatures each.
#pragma once

#include <utility>
#include <vector>

#include "temperature_plan.h"

namespace lbm::engine {

class CellHeat {
public:
    /// What a cell finds at a solid neighbour: a linear combination of temperatures, plus the sum of terms.
    struct Beyond {
        std::vector<backend::ThermalTerm> temperatures;
        std::vector<WallTerms::Term> terms;
        double sum = 0;       // of the weights of the temperatures
        bool is_fit = false;  // to the cells around, the cell itself first, the same for all fits beside a body
    };

    /// The heat is listed in `bodies`.
    explicit CellHeat(std::vector<WallHeat>& bodies) : bodies_(bodies) {}

    /// Begins a cell, by its number and the offset of its temperature.
    void begin(Index cell, Index own) {
        cell_ = cell;
        own_ = own;
    }

    /// Adds the heat k (T_beyond - T) through a link to a body, with the area that it stands for.
    void add(int body, const Beyond& beyond, double k, double area) {
        Sum link{body, area, beyond.temperatures, beyond.terms};
        for (backend::ThermalTerm& each : link.temperatures) {
            each.weight *= k;
        }
        for (WallTerms::Term& term : link.terms) {
            term.factor *= k;
        }
        if (beyond.is_fit) {
            link.temperatures.front().weight -= k;
            join(std::move(link));
        } else {
            link.temperatures.push_back({own_, -k});
            list(link);
        }
    }

    /// Ends the cell.
    void end() {
        for (Sum& sum : fits_) {
            list(sum);
        }
        fits_.clear();
    }

private:
    struct Sum {
        int body;
        double area;
        std::vector<backend::ThermalTerm> temperatures;
        std::vector<WallTerms::Term> terms;
    };

    /// Adds up what fits have of the same temperatures, as a sample for each of them would take much memory.
    void join(Sum&& link) {
        for (Sum& sum : fits_) {
            if (sum.body == link.body) {
                for (std::size_t n = 0; n < link.temperatures.size(); ++n) {
                    sum.temperatures[n].weight += link.temperatures[n].weight;
                }
                sum.terms.insert(sum.terms.end(), link.terms.begin(), link.terms.end());
                sum.area += link.area;
                return;
            }
        }
        fits_.push_back(std::move(link));
    }

    /// Lists a sum as samples, of which the first has the area and the terms of walls.
    void list(Sum& sum) {
        WallHeat& to = bodies_[std::size_t(sum.body)];
        if (sum.temperatures.size() % 2 != 0) {
            sum.temperatures.push_back({own_, 0});
        }
        for (std::size_t n = 0; n < sum.temperatures.size(); n += 2) {
            const backend::ThermalTerm &a = sum.temperatures[n], &b = sum.temperatures[n + 1];
            to.samples.push_back({{a.source, b.source}, {a.weight, b.weight}, 0});
            to.values.add(n == 0 ? sum.terms : std::vector<WallTerms::Term>{});
            to.places.push_back(cell_);
            to.areas.push_back(n == 0 ? sum.area : 0);
        }
    }

    std::vector<WallHeat>& bodies_;
    Index cell_ = 0, own_ = 0;
    std::vector<Sum> fits_{};
};

}  // namespace lbm::engine
