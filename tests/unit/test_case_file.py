"""JSON cases: what is wrong is named with its path, whatever it is, and no engine is made."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.case import build as case_build, read as case_file
from lbmgpu.collision_table import COLLISIONS
from lbmgpu.thermal import OPERATORS

MOVING = {"condition": "moving-wall", "velocity": [0.01, 0]}
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.json"))

CASE: dict[str, Any] = {
    "name": "all keys",
    "domain": {"shape": [12, 10], "stencil": "D2Q9"},
    "collision": {"model": "TRT", "reynolds": 20, "length": 10, "velocity": 0.05, "magic": 0.25, "smagorinsky": 0.1},
    "precision": "float64",
    "storage": "float32",
    "streaming": "two-lattice",
    "faces": {
        "-x": {
            "condition": "velocity-inlet",
            "velocity": {"profile": "parabolic", "direction": "x", "max": 0.05, "across": ["y"]},
        },
        "+x": {"condition": "pressure-outlet", "density": 1.0},
        "-y": {"condition": "no-slip"},
        "+y": dict(MOVING),
    },
    "bodies": [
        {"name": "round", "shape": "cylinder", "center": [4, 5], "radius": 1.5, "axis": "z"},
        {"shape": "sphere", "center": [8, 5], "radius": 1, "thermal": {"condition": "isothermal", "temperature": 0.5}},
        {"shape": "box", "low": [10, 4], "high": [11, 6], "condition": dict(MOVING)},
    ],
    "force": [1e-6, 0],
    "thermal": {
        "diffusivity": 0.1,
        "buoyancy": [0, 1e-4],
        "reference": 0.25,
        "operators": "obrecht2013",
        "energy_coupling": 0.01,
        "source": 1e-6,
        "faces": {"-x": {"condition": "isothermal", "temperature": 1}, "-y": {"condition": "adiabatic"}},
    },
    "initial": {"density": 1.0, "velocity": [0.01, 0], "nonequilibrium": True, "temperature": 0.5},
    "run": {
        "steps": 10,
        "steady": {"tolerance": 1e-6, "every": 5, "of": "temperature"},
        "progress": False,
        "log": {"every": 5},
        "threads": 1,
        "device": "cpu",
    },
    "output": {
        "folder": "out",
        "vtk": True,
        "image": {"field": "temperature", "normal": "y", "position": 0.5},
        "checkpoint": {"every": 5},
        "forces": {"every": 1},
        "heat": {"every": 1},
        "report": True,
    },
}

many = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 40),
    st.sampled_from([10**400, 2**31, 2**63, 65536, 2**53, 1e308, 1e-308, 0.0]),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from(["x", "z", "float16", "float32", "MRT", "BGK", "mask", "no-slip", "D3Q19", "outflow", "/dev/null"]),
)
json_values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of each value inside `value`."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from places(entry, (*path, key))


def container(case: Any, path: tuple[Any, ...]) -> Any:
    """What holds the value at `path`."""
    for key in path[:-1]:
        case = case[key]
    return case


class NoEngine:
    """Stands in for the engine: checks memory, and counts what would have been made."""

    made = 0
    memory_needed = staticmethod(_core.Engine.memory_needed)
    steps = 0

    def __init__(self, **_: Any) -> None:
        NoEngine.made += 1

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make no real engine."""
    monkeypatch.setattr(_core, "Engine", NoEngine)


def build(case: Any) -> None:
    """Check a case and build its solver."""
    case = case_file.parse_case(json.dumps(case))
    case_build.build_solver(case, Path("/nonexistent"))


def problems(case: Any) -> list[tuple[str, str]]:
    """What `build` finds wrong with a case; any other error than CaseError passes through."""
    try:
        build(case)
    except lbm.CaseError as error:
        found = error.problems
    else:
        return []
    assert found
    return found


def test_the_whole_case_is_right() -> None:
    case_file.check_case(CASE)
    solver = case_build.build_solver(CASE, Path())
    assert solver.collision == lbm.TRT(0.025, magic=0.25, smagorinsky=0.1)
    assert (solver.precision, solver.storage, solver.streaming) == ("float64", "float32", "two-lattice")
    assert solver.threads == 1
    domain = solver.domain
    assert list(domain.bodies) == ["round", "body 2", "body 3"]
    assert [body.mask.sum() for body in domain.bodies.values()] == [4, 4, 2]
    assert domain.bodies["body 3"].condition == lbm.MovingWall((0.01, 0))
    np.testing.assert_allclose(solver.velocity()[0, 0, 0], 0.01, rtol=1e-6)
    assert solver.thermal == lbm.HybridThermal(
        0.1, buoyancy=(0, 1e-4), reference=0.25, operators="obrecht2013", energy_coupling=0.01, source=1e-6
    )
    assert domain.thermal["-x"] == lbm.Isothermal(1)
    assert domain.thermal["-y"] == domain.thermal["+y"] == lbm.Adiabatic()
    assert [body.thermal.kind for body in domain.bodies.values()] == ["adiabatic", "isothermal", "adiabatic"]
    assert (solver.temperature()[~solver.solid] == 0.5).all()


THERMAL_PROBLEMS: list[tuple[dict[str, Any], str, str]] = [
    ({"thermal": {"diffusivity": 0}}, "$.thermal.diffusivity", "0 given, must be above 0"),
    ({"thermal": {"diffusivity": 0.5}}, "$.thermal.diffusivity", "must be at most 0.375 for the isotropic"),
    ({"thermal": {"diffusivity": 0.1, "operators": "central"}}, "$.thermal.operators", "'isotropic', 'obrecht2013'"),
    ({"thermal": {"diffusivity": 0.1, "buoyancy": [0, 0, 1]}}, "$.thermal.buoyancy", "must have 2 components"),
    ({"thermal": {"diffusivity": 0.1, "faces": {"-x": {"condition": "hot"}}}}, "'-x'", "did you mean 'isothermal'?"),
    ({"thermal": {"diffusivity": 0.1, "faces": {"-z": {"condition": "adiabatic"}}}}, "'-z'", "unknown face in 2"),
    (
        {"thermal": {"diffusivity": 0.1, "faces": {"-x": {"condition": "isothermal", "temperature": 1}}}},
        "$.thermal.faces['-x']",
        "on a face that is periodic",
    ),
    ({"initial": {"temperature": 1}}, "$.initial.temperature", "the case has no temperature"),
    ({"run": {"steps": 1, "steady": {"tolerance": 1, "of": "temperature"}}}, "$.run.steady.of", "no temperature"),
    ({"output": {"image": {"field": "temperature"}}}, "$.output.image.field", "no temperature"),
    ({"output": {"heat": {"every": 1}}}, "$.output.heat", "no temperature"),
    (
        {"bodies": [{"shape": "sphere", "center": [4, 4], "radius": 2, "thermal": {"condition": "adiabatic"}}]},
        "$.bodies[0].thermal",
        "no temperature",
    ),
    (
        {
            "thermal": {"diffusivity": 0.001},
            "faces": {"-y": {"condition": "no-slip"}, "+y": {"condition": "moving-wall", "velocity": [0.05, 0]}},
        },
        "$.faces['+y'].velocity",
        "must be at most 0.04472 cells a step",
    ),
    (
        {"thermal": {"diffusivity": 0.001}, "initial": {"velocity": [0.05, 0]}},
        "$.initial.velocity",
        "must be at most 0.04472 cells a step",
    ),
    (
        {
            "thermal": {"diffusivity": 0.1},
            "bodies": [
                {
                    "shape": "sphere",
                    "center": [4, 4],
                    "radius": 2,
                    "condition": {"condition": "moving-wall", "velocity": [0.01, 0, 0]},
                }
            ],
        },
        "$.bodies[0].condition.velocity",
        "shape (3,) given, must be shape (2,)",
    ),
    (
        {"thermal": {"diffusivity": 0.1}, "initial": {"temperature": 2e6}},
        "$.initial.temperature",
        "2e+06 given, must be at most 1e+06 in magnitude",
    ),
    ({"thermal": {"diffusivity": 0.1}, "storage": "float16"}, "$.thermal", "storage: 'float16' given with thermal"),
]


@pytest.mark.parametrize(("part", "path", "message"), THERMAL_PROBLEMS)
@pytest.mark.usefixtures("no_engine")
def test_what_is_wrong_about_a_temperature(part: dict[str, Any], path: str, message: str) -> None:
    case: dict[str, Any] = {
        "domain": {"shape": [12, 10], "stencil": "D2Q9"},
        "collision": {"model": "BGK", "viscosity": 0.1},
        "run": {"steps": 1, "device": "cpu"},
    }
    ((where, text),) = problems({**case, **part})
    assert path in where
    assert message in text


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
@pytest.mark.usefixtures("no_engine")
def test_examples_are_right(path: Path) -> None:
    case = case_file.read_case(path)
    case_build.build_solver(case, path.parent)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3


def test_schema_names_what_the_package_has() -> None:
    properties = case_file.schema()["properties"]
    assert properties["domain"]["properties"]["stencil"]["enum"] == lbm.stencil_names()
    assert properties["collision"]["properties"]["model"]["enum"] == list(COLLISIONS)
    conditions = case_file.schema()["$defs"]["face"]["properties"]["condition"]["enum"]
    thermal = case_file.schema()["$defs"]["thermal_condition"]["properties"]["condition"]["enum"]
    assert set(conditions + thermal) == set(lbm.conditions.BY_KIND)
    operators = case_file.schema()["properties"]["thermal"]["properties"]["operators"]["enum"]
    assert tuple(operators) == OPERATORS


@pytest.mark.usefixtures("no_engine")
@many
@given(value=json_values)
def test_any_json_is_a_case_or_an_error(value: Any) -> None:
    before = NoEngine.made
    with pytest.raises(lbm.CaseError):
        build(value)
    assert NoEngine.made == before


@pytest.mark.usefixtures("no_engine")
@settings(many, max_examples=700)
@given(path=st.sampled_from(list(places(CASE))[1:]), value=json_values)
def test_any_replacement_is_a_case_or_an_error(path: tuple[Any, ...], value: Any) -> None:
    case = copy.deepcopy(CASE)
    container(case, path)[path[-1]] = value
    before = NoEngine.made
    found = problems(case)
    assert all(where.startswith("$") and message for where, message in found)
    if found and not found[0][0].startswith("$.initial"):
        assert NoEngine.made == before


@pytest.mark.usefixtures("no_engine")
@many
@given(paths=st.lists(st.sampled_from(list(places(CASE))[1:]), min_size=1, max_size=3, unique=True))
def test_any_removal_is_a_case_or_an_error(paths: list[tuple[Any, ...]]) -> None:
    case = copy.deepcopy(CASE)
    for path in paths:
        try:
            del container(case, path)[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue
    problems(case)


@many
@given(
    path=st.sampled_from([p for p in places(CASE) if p == () or isinstance(container(CASE, (*p, "")), dict)]),
    key=st.text(min_size=1, max_size=8).filter(lambda k: not k.startswith("$")),
)
def test_unknown_key_is_named_with_its_path(path: tuple[Any, ...], key: str) -> None:
    case = copy.deepcopy(CASE)
    target = container(case, (*path, ""))
    assume(key not in target and key not in ("viscosity", "rates"))
    target[key] = 1
    with pytest.raises(lbm.CaseError) as caught:
        case_file.check_case(case)
    assert [where for where, _ in caught.value.problems] == [case_file.json_path([*path, key])]


@pytest.mark.parametrize(
    ("path", "value", "where", "message"),
    [
        (("domian",), {}, "$.domian", "did you mean 'domain'"),
        (("domain", "stencil"), "D3Q18", "$.domain.stencil", "did you mean 'D3Q19'"),
        (("domain", "shape"), [12, 10, 8], "$.domain.shape", "2 positive integers for D2Q9; for 3 dimensions use"),
        (("domain", "shape", 0), 0, "$.domain.shape[0]", "at least 1"),
        (("domain", "shape", 0), 2.5, "$.domain.shape[0]", "an integer"),
        (("domain", "shape"), [2000000, 2000000], "$.domain.shape", "GiB"),
        (("domain", "shape", 0), 2**30 + 1, "$.domain.shape[0]", "at most 1073741824"),
        (("collision", "viscosity"), 0.1, "$.collision", "either 'viscosity' or"),
        (("collision", "model"), "trt", "$.collision.model", "did you mean 'TRT'"),
        (("collision", "model"), "BGK", "$.collision", "magic"),
        (("collision", "reynolds"), 1e-300, "$.collision", "viscosity"),
        (("storage",), "float64", None, ""),
        (("precision",), "float16", "$.precision", "'float32', 'float64'"),
        (("faces", "+y", "condition"), "moving wall", "$.faces['+y'].condition", "did you mean 'moving-wall'"),
        (("faces", "+y", "velocity"), [0.3, 0], "$.faces['+y'].velocity", "a speed of 0.3 given (Mach"),
        (("faces", "+y", "velocity"), [0.1, 0, 0], "$.faces['+y'].velocity", "shape (3,) given"),
        (("faces", "+y", "velocity"), True, "$.faces['+y'].velocity", "an array or an object"),
        (("faces", "-z"), {"condition": "no-slip"}, "$.faces['-z']", "must be one of -x, +x, -y, +y"),
        (("faces", "top"), {"condition": "no-slip"}, "$.faces.top", "must be one of -x, +x, -y, +y"),
        (("faces", "+y", "condition"), "wall", "$.faces['+y'].condition", "did you mean 'no-slip'"),
        (("faces", "-y"), {"condition": "periodic"}, "$.faces", "must both be Periodic"),
        (("faces", "-x", "velocity", "across"), ["x"], "$.faces['-x'].velocity", "own direction"),
        (("faces", "-x", "velocity", "max"), 0.5, "$.faces['-x'].velocity", "a speed of"),
        (("bodies", 0, "radius"), -1, "$.bodies[0].radius", "above 0"),
        (("bodies", 0, "radius"), 4, "$.bodies[1]", "overlaps"),
        (("bodies", 0, "center"), [1], "$.bodies[0].center", "at least 2"),
        (("bodies", 0, "shape"), "disc", "$.bodies[0].shape", "did you mean 'cylinder'"),
        (("bodies", 0, "axis"), "x", "$.bodies[0].axis", "'x' given, must be 'z'"),
        (("bodies", 1, "name"), "round", "$.bodies[1].name", "'round' given, but"),
        (("bodies", 2, "condition", "velocity"), [0.3, 0], "$.bodies[2].condition.velocity", "a speed of"),
        (("bodies", 1, "colour"), "red", "$.bodies[1].colour", "unknown key"),
        (("bodies", 1), {"shape": "mask", "file": "none.npy"}, "$.bodies[1].file", "(No such file or directory)"),
        (("bodies", 1, "center"), [80, 5], "$.bodies[1]", "the sphere covers no cell"),
        (("bodies", 1, "radius"), 0.5, "$.bodies[1]", "outside the domain, (12, 10) cells, or between cell centres"),
        (("force",), [2, 0], "$.force", "2 given"),
        (("initial", "velocity"), [0.2, 0], "$.initial.velocity", "a speed of"),
        (("run", "steps"), -1, "$.run.steps", "at least 0"),
        (("run", "device"), "gpu", "$.run.device", "did you mean 'cuda'"),
        (("run", "device"), 1, "$.run.device", "must be a string"),
        (("run", "steady"), {}, "$.run.steady", "lacks 'tolerance'"),
        (("output", "image", "normal"), "w", "$.output.image.normal", "'x', 'y', 'z'"),
    ],
)
def test_wrong_value_is_named(path: tuple[Any, ...], value: Any, where: str | None, message: str) -> None:
    case = copy.deepcopy(CASE)
    container(case, path)[path[-1]] = value
    if where is None:
        build(case)
        return
    with pytest.raises(lbm.CaseError) as caught:
        build(case)
    assert any(w == where and message in m for w, m in caught.value.problems), str(caught.value)


def test_all_problems_at_once() -> None:
    case = copy.deepcopy(CASE)
    case["domain"]["stencil"] = "D2Q8"
    case["run"]["step"] = 5
    del case["run"]["steps"]
    case["faces"]["+y"]["velocity"] = "fast"
    with pytest.raises(lbm.CaseError) as caught:
        case_file.check_case(case)
    assert [where for where, _ in caught.value.problems] == [
        "$.domain.stencil",
        "$.faces['+y'].velocity",
        "$.run",
        "$.run.step",
    ]


def test_all_wrong_values_at_once() -> None:
    case = copy.deepcopy(CASE)
    case["faces"]["-x"]["velocity"]["max"] = 0.5
    case["faces"]["+y"]["velocity"] = [0.3, 0]
    case["faces"]["+z"] = {"condition": "no-slip"}
    case["bodies"][0]["axis"] = "x"
    case["bodies"][1]["center"] = [-9, -9]
    case["initial"]["velocity"] = [0.2, 0]
    case["precision"], case["storage"] = "float32", "float64"
    case["collision"]["model"] = "BGK"
    case["output"]["centrelines"] = {"reference": "none", "velocity": 0.1}
    case["output"]["forces"] = {"every": 1}
    with pytest.raises(lbm.CaseError) as caught:
        build(case)
    assert [where for where, _ in caught.value.problems] == [
        "$.storage",
        "$.faces['-x'].velocity",
        "$.faces['+y'].velocity",
        "$.faces['+z']",
        "$.bodies[0].axis",
        "$.bodies[1]",
        "$.initial.velocity",
        "$.collision",
        "$.output.centrelines.reference",
    ]
    case["domain"]["shape"] = [12, 10, 3]
    with pytest.raises(lbm.CaseError) as caught:
        build(case)
    where = [where for where, _ in caught.value.problems]
    assert where == ["$.storage", "$.domain.shape", "$.collision", "$.output.centrelines.reference"]


def test_rates_by_name_or_the_published_ones() -> None:
    case = copy.deepcopy(CASE)
    for rates, wrong in (("published", []), ("mine", ["$.collision.rates"]), ({"e": 2.5}, ["$.collision.rates.e"])):
        case["collision"] = {"model": "MRT", "viscosity": 0.1, "rates": rates}
        assert [where for where, _ in problems(case)] == wrong


def test_unknown_rates_are_found_beside_the_rest() -> None:
    case = copy.deepcopy(CASE)
    case["collision"] = {"model": "MRT", "viscosity": 0.1, "rates": {"speed": 1.0}}
    case["initial"]["velocity"] = [0.2, 0]
    assert [where for where, _ in problems(case)] == ["$.initial.velocity", "$.collision.rates"]


def test_faces_of_three_dimensions_are_named_there() -> None:
    case = {**CASE, "domain": {"shape": [4, 4, 4], "stencil": "D3Q19"}, "faces": {"top": {"condition": "no-slip"}}}
    with pytest.raises(lbm.CaseError, match=r"\$\.faces\.top: unknown key, must be one of -x, \+x, -y, \+y, -z, \+z"):
        case_file.check_case(case)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1,]", "{'a': 1}", '{"run": 1, "run": 2}', "[" * 100000, "nul"],
)
def test_not_json(text: str) -> None:
    with pytest.raises(lbm.CaseError, match="not JSON"):
        case_file.parse_case(text)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", "1" + "0" * 400])
def test_numbers_beyond_floats(value: str) -> None:
    text = json.dumps(CASE).replace('"steps": 10', f'"steps": {value}')
    with pytest.raises(lbm.CaseError, match=r"\$\.run\.steps: .* must be a finite number"):
        case_file.parse_case(text)


def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    for name in ("binary.json", ""):
        with pytest.raises(lbm.CaseError, match="cannot be read"):
            case_file.read_case(tmp_path / name)
    with pytest.raises(lbm.CaseError) as caught:
        case_file.read_case(tmp_path)
    assert str(caught.value) == f"{tmp_path}: cannot be read (is a folder, must be a regular file)"
    with pytest.raises(FileNotFoundError, match=r"^no case at .*missing.json$"):
        case_file.read_case(tmp_path / "missing.json")


def test_bodies_have_their_shapes(tmp_path: Path) -> None:
    np.save(tmp_path / "mask.npy", np.arange(12 * 11 * 10).reshape(12, 11, 10) % 97 == 0)
    case = {
        "domain": {"shape": [12, 11, 10], "stencil": "D3Q19"},
        "collision": {"model": "MRT", "viscosity": 0.1, "rates": {}},
        "run": {"steps": 1},
    }
    grid = np.meshgrid(*(np.arange(n) + 0.5 for n in (12, 11, 10)), indexing="ij")
    x, y, z = grid
    for body, expected in (
        (
            {"shape": "sphere", "center": [6, 5, 4], "radius": 3},
            (x - 6) ** 2 + (y - 5) ** 2 + (z - 4) ** 2 <= 9,
        ),
        ({"shape": "cylinder", "center": [6, 5, 0], "radius": 2, "axis": "z"}, (x - 6) ** 2 + (y - 5) ** 2 <= 4),
        ({"shape": "cylinder", "center": [6, 0, 4], "radius": 2, "axis": "y"}, (x - 6) ** 2 + (z - 4) ** 2 <= 4),
        (
            {"shape": "box", "low": [2, 3, 4], "high": [5, 6, 8]},
            (x > 2) & (x < 5) & (y > 3) & (y < 6) & (z > 4) & (z < 8),
        ),
        ({"shape": "mask", "file": "mask.npy"}, np.load(tmp_path / "mask.npy")),
    ):
        case["bodies"] = [body]  # type: ignore[assignment]
        case_file.check_case(case)
        solver = case_build.build_solver(case, tmp_path)
        np.testing.assert_array_equal(solver.solid, expected)


def test_profile_is_a_parabola() -> None:
    entry = {"profile": "parabolic", "direction": "x", "max": 0.1, "across": ["y", "z"]}
    velocity = case_build.velocity_value(entry, (10, 8, 6))
    x, y, z = (np.array([a]) for a in (0.0, 4.0, 3.0))
    assert [float(np.max(v)) for v in velocity(x, y, z)] == [0.1, 0, 0]
    assert float(velocity(x, 0 * y, z)[0][0]) == 0
    assert float(velocity(x, y / 2, z)[0][0]) == pytest.approx(0.075)
