// Where lattice lines cross a surface, whoever finds it: threads of the host here, or a GPU, which this folder knows
// nothing of. Both find the same bits, as they compile the same arithmetic (crossings.h).
#pragma once

#include <functional>

#include "lines.h"

namespace lbm::geometry {

/// The interface of what follows lattice lines.
class LatticeLines {
public:
    /// The surface must live longer. `threads` are those of the host that share work.
    LatticeLines(const Surface& surface, int threads) : surface_(surface), threads_(threads) {}
    LatticeLines(const LatticeLines&) = delete;
    LatticeLines& operator=(const LatticeLines&) = delete;
    virtual ~LatticeLines() = default;

    const Surface& surface() const { return surface_; }
    int threads() const { return threads_; }

    /// Of a closed surface: sets solid[(x size[1] + y) size[2] + z], of cells of `part`, to 1 in those of `inner`,
    /// which lies in the part, whose centres lines along z find inside. The others are 0 before, or become so.
    virtual void fill(const Part& inner, const Part& part, std::uint8_t* solid) = 0;

    /// Takes so many cuts of links; several threads may call it at a time.
    using TakeCuts = std::function<void(const LineCut* cuts, std::size_t count)>;

    /// Hands over the cuts of all lines of a range along a direction that lie on links from cells of a box, each once,
    /// in any order.
    virtual void for_cuts(const LineDirection& along, const LineRange& lines, const CellBox& box,
                          const TakeCuts& take) = 0;

private:
    const Surface& surface_;
    const int threads_;
};

/// Lines followed by threads of the host.
class HostLines final : public LatticeLines {
public:
    using LatticeLines::LatticeLines;

    void fill(const Part& inner, const Part& part, std::uint8_t* solid) override;
    void for_cuts(const LineDirection& along, const LineRange& lines, const CellBox& box,
                  const TakeCuts& take) override;
};

}  // namespace lbm::geometry
