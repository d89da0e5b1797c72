// The update kernels of the multispeed thermal model for one stencil and one instruction set; this file is compiled
// once for each pair.
#include "../../lattice/multispeed.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "kernel_choice.h"
#include "pack.h"

namespace lbm::cpu {
namespace {

using S = LBM_STENCIL;

template <class Real>
constexpr int pack_cells = LBM_VECTOR_BYTES / int(sizeof(Real));

/// A row is updated in parts of so many bytes of a population.
constexpr Index part_bytes = 512, line_bytes = 64, part_packs = part_bytes / LBM_VECTOR_BYTES;

/// The populations of the packs of a part.
template <class Real>
using Part = Pack<Real, pack_cells<Real>>[part_packs][S::Q];

/// Where the incoming populations of a part are: in the neighbouring rows, shifted along x.
template <class Real>
struct Incoming {
    const Real* source;  // population 0 of the part
    Index population_stride, row_stride;

    template <int i>
    LBM_HD const Real* at() const {
        return source + i * population_stride - S::c[i][1] * row_stride - S::c[i][0];
    }
    /// Prefetches a memory line of each population, so many cells further.
    LBM_HD void prefetch(Index ahead) const {
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { __builtin_prefetch(at<i>() + ahead, 0, 2); });
    }
};

/// Stores a pack past the caches, or in them; `to` is aligned to packs.
template <class Real, int W>
LBM_HD void put(Real* to, const Pack<Real, W>& pack, bool bypasses_caches) {
#if defined(__SSE2__)
    if (bypasses_caches) {
#if LBM_VECTOR_BYTES == 64
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_load_si512(&pack));
#elif LBM_VECTOR_BYTES == 32
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to), _mm256_load_si256(reinterpret_cast<const __m256i*>(&pack)));
#else
        _mm_stream_si128(reinterpret_cast<__m128i*>(to), _mm_load_si128(reinterpret_cast<const __m128i*>(&pack)));
#endif
        return;
    }
#endif
    store_stored<Real, W>(to, pack);
}

/// Updates a part of a row, of whole packs, and prefetches the next part meanwhile, which begins `next` cells further
/// and has `next_packs`. The populations are gathered in the first-level cache, collide there, and are written from
/// there: so memory is read and written in runs of a part, not of a pack in turn with those of the 36 other
/// populations.
///
/// The last pack of a row also stores beyond its end: into the halo in the padding, which may be that of the next row.
/// This is harmless. These halo cells are copied or computed again before the next update, and imports from other
/// blocks come after this update: the last pack of a row in a block with a neighbour across x never belongs to the
/// interior (engine/interior.h), nor does the row before an imported one.
template <class Real, RelaxationTimes times>
LBM_HD void update_part(const Incoming<Real>& incoming, Real* target, Index packs, Index next, Index next_packs,
                        Part<Real>& part, const MultispeedParameters<Real>& parameters, bool bypasses_caches) {
    constexpr int W = pack_cells<Real>;
    constexpr Index packs_of_line = line_bytes / LBM_VECTOR_BYTES;
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        const Real* from = incoming.template at<i>();
        for (Index k = 0; k < packs; ++k) {
            part[k][i] = load_stored<Real, W>(from + k * W);
        }
    });
    Index prefetched = 0;  // packs
    for (Index k = 0; k < packs; ++k) {
        if (k == prefetched && prefetched < next_packs) {
            incoming.prefetch(next + prefetched * W);
            prefetched += packs_of_line;
        }
        collide_multispeed<S, times>(part[k], parameters);
    }
    for (; prefetched < next_packs; prefetched += packs_of_line) {  // behind a shorter part
        incoming.prefetch(next + prefetched * W);
    }
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        Real* to = target + i * incoming.population_stride;
        for (Index k = 0; k < packs; ++k) {
            put(to + k * W, part[k][i], bypasses_caches);
        }
    });
}

template <class Real, RelaxationTimes times>
void update_multispeed_rows(const UpdateArguments& a, const MultispeedParameters<Real>& parameters, Index first,
                            Index last) {
    constexpr Index W = pack_cells<Real>, whole = part_packs * W;
    alignas(line_bytes) Part<Real> part;
    const Address& address = a.address;
    for (Index r = first; r < last; ++r) {
        const Index row = address.row(int(r), 0, 0);
        for (Index x = a.first_x; x < a.end_x; x += whole) {
            const auto packs_from = [&](Index begin) LBM_INLINE_LAMBDA {
                const Index left = a.end_x - begin;
                return left > whole ? part_packs : (left + W - 1) / W;
            };
            const bool is_last = x + whole >= a.end_x;
            const Index next = is_last ? address.row_stride - (x - a.first_x) : whole;
            const Incoming<Real> incoming{static_cast<const Real*>(a.source) + row + x, address.population_stride,
                                          address.row_stride};
            update_part<Real, times>(incoming, static_cast<Real*>(a.target) + row + x, packs_from(x), next,
                                     packs_from(is_last ? a.first_x : x + whole), part, parameters, a.bypasses_caches);
        }
    }
#if defined(__SSE2__)
    _mm_sfence();  // what went past the caches is there for other threads before they go on
#endif
}

template <class Real>
void update_any_rows(const UpdateArguments& a, Index first, Index last) {
    const auto parameters = parameters_from<MultispeedParameters<Real>>(a.parameters);
    with_relaxation_times(relaxation_times(parameters), [&]<RelaxationTimes times>() LBM_INLINE_LAMBDA {
        update_multispeed_rows<Real, times>(a, parameters, first, last);
    });
}

}  // namespace

template <>
UpdateKernel kernel_for<MultispeedThermal, LBM_STENCIL, LBM_ISA>(const KernelKind& kind) {
    return among_kinds<MultispeedThermal>(kind, [](auto collision, auto numbers) -> UpdateKernel {
        using N = decltype(numbers);
        static_assert(IsSame<decltype(collision), ThermalBGK>::value, "the update of this model has one collision");
        return update_any_rows<typename N::Real>;
    });
}

}  // namespace lbm::cpu
