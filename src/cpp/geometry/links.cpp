// The links between cells that a surface cuts.
#include "links.h"

#include <cstring>
#include <mutex>

#include "parallel.h"

namespace lbm::geometry {
namespace {

/// Whether a link comes before another, by cell, direction and distance.
bool is_before(const CutLink& a, const CutLink& b) {
    return a.cell != b.cell ? a.cell < b.cell : a.direction != b.direction ? a.direction < b.direction : a.q < b.q;
}

/// What is asked of all directions.
class Finder {
public:
    Finder(LatticeLines& lines, const Part& part, const std::uint8_t* own, const std::uint8_t* taken, double least)
        : lines_(lines), part_(part), own_(own), taken_(taken), least_(least), threads_(lines.threads()) {}

    /// Whether the surface comes near the part.
    bool is_near() const {
        const Bounds& bounds = lines_.surface().bounds();
        for (int k = 0; k < 3; ++k) {
            if (!(bounds.low[k] <= double(part_.offset[k] + part_.size[k]) + 2 &&
                  bounds.high[k] >= double(part_.offset[k]) - 2)) {
                return false;
            }
        }
        return true;
    }

    /// Whether links begin in a cell of these numbers along the axes, counted in the domain.
    bool is_fluid(const std::int64_t cell[3]) const {
        std::int64_t at[3];
        for (int k = 0; k < 3; ++k) {
            at[k] = cell[k] - part_.offset[k];
            if (at[k] < 0 || at[k] >= part_.size[k]) {
                return false;
            }
        }
        return !taken_[number_of(at)] && !own_at(at);
    }

    std::int64_t number_of(const std::int64_t at[3]) const {
        return (at[0] * part_.size[1] + at[1]) * part_.size[2] + at[2];
    }

    /// Whether a cell is inside the surface, by its numbers in the part, from -1 to its size.
    bool own_at(const std::int64_t at[3]) const {
        return own_[((at[0] + 1) * (part_.size[1] + 2) + at[1] + 1) * (part_.size[2] + 2) + at[2] + 1];
    }

    /// Adds the cuts of all lines along a direction; its own number and that of its opposite are negative where the
    /// velocities lack them.
    void add_cuts(const Direction& along, std::int32_t forward, std::int32_t backward) {
        CellBox box{};  // of the cells of the part, and of those one step before them
        for (int k = 0; k < 3; ++k) {
            box.low[k] = part_.offset[k] - 1, box.high[k] = part_.offset[k] + part_.size[k] + 1;
        }
        lines_.for_cuts(along, lines_of(along), box, [&](const LineCut* cuts, std::size_t count) {
            std::vector<CutLink> found;
            for (const LineCut* cut = cuts; cut != cuts + count; ++cut) {
                std::int64_t cell[3] = {cut->cell[0], cut->cell[1], cut->cell[2]};
                add(cell, forward, cut->distance, found);
                for (int d = 0; d < 3; ++d) {
                    cell[d] += along.c[d];
                }
                add(cell, backward, 1 - cut->distance, found);
            }
            std::sort(found.begin(), found.end(), is_before);
            keep_nearest(found);
            keep(found);
        });
    }

    /// Adds the links to cells inside that nothing has cut yet. All velocities come together.
    void add_hidden(const std::vector<std::array<int, 3>>& velocities, double hidden) {
        sort();
        std::vector<CutLink> cuts;
        cuts.swap(links_);
        keep_nearest(cuts);
        for_pieces(part_.size[0], threads_, [&](long x) {
            std::vector<CutLink> found;
            const std::int64_t layer = part_.size[1] * part_.size[2];
            const CutLink* next =
                std::lower_bound(cuts.data(), cuts.data() + cuts.size(), CutLink{x * layer, -1, 0.0}, is_before);
            const CutLink* last = cuts.data() + cuts.size();
            for (std::int64_t y = 0; y < part_.size[1]; ++y) {
                for (std::int64_t z = 0; z < part_.size[2]; ++z) {
                    if (z + 8 <= part_.size[2] && is_far_from_surface(x, y, z)) {
                        z += 7;
                        continue;
                    }
                    const std::int64_t at[3] = {x, y, z}, number = number_of(at);
                    if (taken_[number] || own_at(at)) {
                        continue;
                    }
                    for (std::size_t k = 0; k < velocities.size(); ++k) {
                        const std::array<int, 3>& c = velocities[k];
                        const std::int64_t other[3] = {x + c[0], y + c[1], z + c[2]};
                        if (!own_at(other)) {
                            continue;
                        }
                        const CutLink wanted{number, std::int32_t(k), 0.0};
                        while (next != last && is_before(*next, wanted)) {
                            ++next;
                        }
                        if (next == last || next->cell != number || next->direction != std::int32_t(k)) {
                            found.push_back({number, std::int32_t(k), hidden});
                        }
                    }
                }
            }
            keep(found);
        });
        links_.insert(links_.end(), cuts.begin(), cuts.end());
        sort();
    }

    std::vector<CutLink> take() { return std::move(links_); }

private:
    LineRange lines_of(const LineDirection& along) const {
        LineRange range{};
        Index* ends[2][2] = {{&range.first_begin, &range.first_end}, {&range.second_begin, &range.second_end}};
        const int axes[2] = {along.first, along.second};
        // A line has a cell of the part, or one next to it.
        const std::int64_t major[2] = {part_.offset[along.major] - 1,
                                       part_.offset[along.major] + part_.size[along.major]};
        for (int k = 0; k < 2; ++k) {
            const std::int64_t low = part_.offset[axes[k]] - 1, high = part_.offset[axes[k]] + part_.size[axes[k]];
            const int c = along.c[axes[k]];
            *ends[k][0] = low - std::max(c * major[0], c * major[1]);
            *ends[k][1] = high - std::min(c * major[0], c * major[1]) + 1;
        }
        return range;
    }

    void add(const std::int64_t cell[3], std::int32_t direction, double q, std::vector<CutLink>& found) const {
        if (direction >= 0 && is_fluid(cell)) {
            const std::int64_t at[3] = {cell[0] - part_.offset[0], cell[1] - part_.offset[1],
                                        cell[2] - part_.offset[2]};
            found.push_back({number_of(at), direction, std::max(q, least_)});
        }
    }

    /// Leaves the nearest cut of each link of a sorted list.
    static void keep_nearest(std::vector<CutLink>& cuts) {
        const auto end = std::unique(cuts.begin(), cuts.end(), [](const CutLink& a, const CutLink& b) {
            return a.cell == b.cell && a.direction == b.direction;
        });
        cuts.erase(end, cuts.end());
    }

    /// Adds links that a thread has found.
    void keep(const std::vector<CutLink>& found) {
        const std::lock_guard<std::mutex> lock(mutex_);
        links_.insert(links_.end(), found.begin(), found.end());
    }

    /// Whether the cells z to z + 7 of a row are all inside, or no cell next to them is.
    bool is_far_from_surface(std::int64_t x, std::int64_t y, std::int64_t z) const {
        const std::int64_t row = part_.size[2] + 2;
        const std::uint8_t* here = own_ + ((x + 1) * (part_.size[1] + 2) + y + 1) * row + z + 1;
        if (eight_at(here) == 0x0101010101010101ull) {
            return true;
        }
        std::uint64_t any = 0;
        for (std::int64_t i = -1; i <= 1; ++i) {
            for (std::int64_t j = -1; j <= 1; ++j) {
                const std::uint8_t* other = here + (i * (part_.size[1] + 2) + j) * row;
                any |= eight_at(other - 1) | std::uint64_t(other[7] | other[8]);
            }
        }
        return any == 0;
    }

    static std::uint64_t eight_at(const std::uint8_t* cells) {
        std::uint64_t found = 0;
        std::memcpy(&found, cells, sizeof found);
        return found;
    }

    /// Sorts in pieces of the part's cells, which have about as many links each.
    void sort() {
        const std::int64_t layer = std::max<std::int64_t>(part_.size[1] * part_.size[2], 1);
        const auto layers = std::size_t(part_.size[0]);
        std::vector<std::size_t> start(layers + 1, 0);
        for (const CutLink& link : links_) {
            ++start[std::size_t(link.cell / layer) + 1];
        }
        for (std::size_t k = 0; k < layers; ++k) {
            start[k + 1] += start[k];
        }
        std::vector<CutLink> sorted(links_.size());
        std::vector<std::size_t> next(start.begin(), start.end() - 1);
        for (const CutLink& link : links_) {
            sorted[next[std::size_t(link.cell / layer)]++] = link;
        }
        for_pieces(long(layers), threads_, [&](long k) {
            std::sort(sorted.begin() + std::ptrdiff_t(start[std::size_t(k)]),
                      sorted.begin() + std::ptrdiff_t(start[std::size_t(k) + 1]), is_before);
        });
        links_ = std::move(sorted);
    }

    LatticeLines& lines_;
    const Part& part_;
    const std::uint8_t* own_;
    const std::uint8_t* taken_;
    const double least_;
    const int threads_;
    std::mutex mutex_;
    std::vector<CutLink> links_;
};

}  // namespace

std::vector<CutLink> find_links(LatticeLines& lines, const Part& part,
                                const std::vector<std::array<int, 3>>& velocities, const std::uint8_t* own,
                                const std::uint8_t* taken, double least, double hidden) {
    Finder finder(lines, part, own, taken, least);
    std::vector<bool> is_done(velocities.size(), !finder.is_near());
    for (std::size_t k = 0; k < velocities.size(); ++k) {
        if (is_done[k] || velocities[k] == std::array<int, 3>{0, 0, 0}) {
            continue;
        }
        const Direction along(velocities[k].data());
        std::int32_t numbers[2] = {-1, -1};
        for (std::size_t other = k; other < velocities.size(); ++other) {
            for (int sign = 1; sign >= -1; sign -= 2) {
                if (velocities[other] == std::array<int, 3>{sign * along.c[0], sign * along.c[1], sign * along.c[2]}) {
                    numbers[sign > 0 ? 0 : 1] = std::int32_t(other);
                    is_done[other] = true;
                }
            }
        }
        finder.add_cuts(along, numbers[0], numbers[1]);
    }
    finder.add_hidden(velocities, hidden);
    return finder.take();
}

}  // namespace lbm::geometry
