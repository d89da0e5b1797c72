"""Tests that retired terms of this project do not return to the sources; those of the field have replaced them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENDINGS = {".h", ".cpp", ".cu", ".py", ".pyi"}

RETIRED = {
    r"\bdepart(ed|s|ing)(_\w+)?\b": "post-collision (outgoing) population",
    r"\barriv(es|ed|ing)_\w+|\bpopulations? (that |which )?(has |have )?arriv": "post-streaming (incoming) population",
    r"\b(InPlace(Own|Neighbou?r)|(own|neighbou?r) phase)\b": "even, odd step of the A-A pattern; AAEven, AAOdd",
    r"\b(Near|Far)(Places|Plan)\b|\bfar_(places|plan)\b": "NearestNeighborOffsets, LongRangeOffsets, LongRangePlan",
    r"\bkinetic_(?!energy\b)\w*|\bKinetic[A-Z]\w*|\bkinetic\.[a-z]\w*|\bimport ([\w, ]+, )?kinetic\b": "multispeed",
    r"\bupdate[_ ]bandwidths?\b|\b(hidden|x)_share\b|\b(CACHED|ROW|X)_SHARE\b": "in-place STREAM scale; fraction",
    r"[.\s]described\(": "what is meant: properties, status, summary",
    r"\bbytes_beside\b|\bproblem\.reach\b": "extra_bytes_per_cell; radius of the stencil",
    r"[.>]heated\b|(?<![\w\"'])heated(?= *[=;)(|&?])": "is_hybrid_thermal, has_temperature",
    r"\bwarmth\b": "reduced temperature theta; stable_temperature",
    r"\bis_(sane|warm)\b|\bsane (state|gas|cell)s?\b": "state_is_valid, temperature_is_valid",
    r"\bclose_conservation\b": "enforce_conservation",
    r"\b(fill_links|serve_links)\b": "apply_boundaries",
    r"(?<!Boundary)HaloPlan\b|\bhalo_plan\b(?<!boundary_halo_plan)": "boundary-and-halo plan, BoundaryHaloPlan",
    r"\bPlace\{|(?<!functools)[.>]wraps\b|\bwraps\[|\bwrapped ax[ei]s\b": "NeighborSlot; self-periodic axis",
    r"\bside columns?\b|\bside_columns?\b": "x-face buffers",
    r"\bworks?_by_(it|them)sel(f|ves)\b|\bby_themselves_?\b": "is_asynchronous, asynchronous",
    r"\bWorkMark\b|\bMarked\b|\bbackend::Moment\b": "EventSource, Timestamp",
    r"\b(Wish|Halves|Surroundings|UpdateShape)\b": "SendRequest, PackUnpack, PaddedBox, LaunchConfiguration",
    r"\bladen\b": "what the registers or the memory are full of",
    r"\bbegins_early\b": "programmatic dependent launch",
    r"\bpush(es)? (of|from) (a |the )?(moving )?walls?\b|\bwalls? push(es)?\b": "wall momentum term",
    r"\bghost[ _](cell|layer|row|node)s?\b": "halo",
    r"\beddy_relaxation_rate\b|(\.|::|->)eddy\b|\beddy *[=;]": "smagorinsky_factor",
    r"\w(\.|::|->)reach\b|\breach(_\w+)? =|\breach: int\b|\b(can_)?reach_peer\b|\bdevice_reaches\w*": "radius; access",
    r"\b\w+_beside(_\w+)?\b|\bbeside_\w*|(\.|::|->)[Bb]eside\b|\bbeside(\[| [=+*])": "neighbor; next to; extra; Field",
    r"\blate_(cells|arguments)\w*|\bis_late\b": "cut links, which are served after all copies",
    r"\bNeighborSlot\{along\b|_slot<S>\([^()]*\)\.along\b": "NeighborSlot::shift",
    r"\bLaunchShape\b|\b(usual|possible|chosen)_shapes?\b": "LaunchDimensions, LaunchConfiguration",
    r"\bwhole_file\b|\b(import|from) +\.?spinning\b|\bspinning\.\w": "atomic_write, openmp_settings",
}
"""Words, as regular expressions, and what to say in their place."""

KEPT = {
    ("src/lbmgpu/errors.py", "warmth"),
    ("src/lbmgpu/solver/report.py", "hidden_share"),
    ("src/lbmgpu/solver/report.py", "update_bandwidth"),
}
"""Where a word has to stay: deprecated names of public attributes, and a function that the engine publishes."""

REFUSED = [
    "Of what departed from a cell.",
    "departed_offset(phase, x, i)",
    "the populations that arrive in it",
    "if (domain.heated) {",
    "bool heated = false;",
    "void kinetic_cells();",
    "class KineticCells {",
    "docs/kinetic_thermal.md",
    "the update bandwidth of the processor",
    "row.hidden_share",
    "kernel_cache.described()",
    "from .. import checks, kinetic, models",
    "kinetic.mach_unit(stencil)",
    "HaloPlan plan;",
    "the halo_plan of a block",
    "Address::wraps or a.wraps[0]",
    "moving walls push with one density",
    "if (parameters.eddy > 0) {",
    "constexpr int D = 2, Q = 37, reach = 3;",
    "static constexpr bool multispeed = S::reach > 1;",
    "Index beside[3][2];",
    "cell.beside[axis][side]",
    "int bytes_beside(int dimensions)",
    "TemperatureKind::Beside",
    "std::vector<WallCell> late_cells;",
]
ALLOWED = [
    "a differentially heated cavity, and heated walls",
    'flow="heated"',
    "kinetic_energy() and the kinetic energy. It is a sum",
    "import numpy as np  # for kinetic theory",
    "its share of the cores, and a share of the cells",
    "the bandwidth of an update; described as JSON and arrays",
    "as described (see there), and all described above",
    "messages that have arrived",
    "BoundaryHaloPlan of boundary_halo_plan.h",
    "the text wraps at 120 columns",
    "@functools.wraps(method)",
    "packs.push_back(cell)",
    "a spinning thread takes time from others",
    "post-collision populations",
    "with an eddy viscosity",
    "GPUs that cannot reach each other. Both reach it, out of reach, and so",
    "a temperature beside the flow, and besides that a force",
    "it is too late: cells that come late",
    "the neighbours along x",
]


def sources() -> Iterator[Path]:
    yield ROOT / "ARCHITECTURE.md"
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in ENDINGS:
            yield path


def retired_words(line: str) -> list[str]:
    return [found[0] for word in RETIRED for found in re.finditer(word, line)]


@pytest.mark.parametrize("line", REFUSED)
def test_a_line_with_a_retired_word_is_refused(line: str) -> None:
    assert retired_words(line)


@pytest.mark.parametrize("line", ALLOWED)
def test_a_line_of_ordinary_english_is_not_refused(line: str) -> None:
    assert not retired_words(line)


@pytest.mark.parametrize("word", RETIRED)
def test_the_sources_use_the_terms_of_the_field(word: str) -> None:
    found = [
        f"{name}:{number}: {line.strip()}"
        for path in sources()
        for name in [path.relative_to(ROOT).as_posix()]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for match in re.finditer(word, line)
        if (name, match[0]) not in KEPT
    ]
    assert not found, f"say {RETIRED[word]} in place of /{word}/:\n" + "\n".join(found)
