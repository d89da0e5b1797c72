"""Texts of users' collisions: CPUs and GPUs take the same ones, and what is wrong is told by the user's lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.parallel.devices import look_for_compiler

ROOT = Path(__file__).parents[2]
TEXT = """\
#include "../collide.h"

namespace lbm {

struct Own : FlowCollision {
    static constexpr const char* name = "own";

    template <class Real>
    struct Parameters : Relaxation<Real> {
        Real more;
    };

    template <class S, class Given>
    static Parameters<double> parameters(const Given& given) {
        return {relaxation(given), given.positive("more", 1)};
    }

    template <class S, class V, class P>
    LBM_HD static PairChange<S, V> relax(const PairSums<S, V>& n, V omega, const P& p) {
        PairChange<S, V> change;
        const V rate = Scalar<V>(-0.5) * omega;
        static_for<Stencil<S>::pairs>([&]<int k>() LBM_INLINE_LAMBDA {
            change.even[k] = rate * n.even[k];
            change.odd[k] = rate * (p.more * n.odd[k]);
        });
        return change;
    }
};

}  // namespace lbm
"""
RATE = "const V rate = Scalar<V>(-0.5) * omega;"
MORE = "Real more;"
MADE = 'given.positive("more", 1)'


def changed(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new)


def on_cpu(collision: lbm.CustomCollision, precision: str = "float32", thermal: bool = False) -> list[float]:
    kinds = {"stencil": "D2Q9", "precision": precision, "storage": precision, "thermal": thermal}
    return _core.custom_numbers(collision.engine_text(), {"viscosity": 0.1}, **kinds)


def on_gpu(collision: lbm.CustomCollision, precision: str = "float32", thermal: bool = False) -> list[str]:
    """What NVRTC makes of it, the parameters' kernel first."""
    look_for_compiler()
    kinds = {"stencil": "D2Q9", "precision": precision, "storage": precision, "thermal": thermal}
    kinds |= {"streaming": "in-place", "size": 64, "architecture": "sm_90"}
    return _core.custom_resources(collision.engine_text() | {"numbers": [1.25, 0.0, 1.0]}, **kinds)


COMPILE = [on_cpu, on_gpu]


@pytest.mark.parametrize("compiled", COMPILE)
@pytest.mark.parametrize(
    "text",
    [
        changed('#include "../collide.h"', '#ifndef OWN\n  #  include  "../collide.h"  // the "base"\n#endif'),
        changed('#include "../collide.h"', '#pragma once\n#include "../collide.h"\n#include "trt.h"').replace(
            "\n", "\r\n"
        ),
        changed(RATE, "const V rate = -1 * (omega / 2);"),
        changed(RATE, "const V rate = (p.more > 2 ? Scalar<V>(-0.5) : Scalar<V>(-1) / 2) * omega;"),
        changed("LBM_HD static PairChange", "static PairChange"),
        changed(MORE, "Real more = 1, others[3] = {1, 2, 3};").replace(MADE, MADE + ", {1, 2, 3}"),
        changed("struct Own", "template <class V> LBM_HD V max(V a, V) { return a; }\nstruct Own").replace(
            RATE, "const V rate = Scalar<V>(-0.5) * max(omega, omega);"
        ),
    ],
)
def test_right_texts_are_taken(text: str, compiled: object) -> None:
    compiled(lbm.CustomCollision(text, {"viscosity": 0.1}))  # type: ignore[operator]


WRONG = {
    "pow": (RATE, "const V rate = pow(omega, omega);", r"LINE.*pow[\s\S]*square_root"),
    "exp in parameters": (MADE, "exp(0.1)", r"LINE.*exp"),
    "sqrtf": (MADE, "sqrtf(4.0f)", r"LINE.*sqrtf"),
    "std": (MADE, "std::max(0.1, 0.2)", r"LINE.*(max|std)"),
    "a comparison": (RATE, "const V rate = omega > Scalar<V>(1) ? omega : omega;", r"LINE.*>"),
    "a double beside V": (RATE, "const V rate = -0.5 * omega;", r"LINE.*operator *\*[\s\S]*Scalar<V>\(0\.5\)"),
    "a float beside V": (RATE, "const V rate = omega / 2.0f;", r"LINE.*operator */"),
    "a double beside a parameter": (RATE, "const V rate = (p.more * 0.5) * omega;", r"LINE.*operator *\*"),
    "a V of a number": (RATE, "const V rate = p.more;", r"LINE"),
    "a written Smagorinsky factor": (
        RATE,
        "P q = p; q.smagorinsky_factor = 0; const V rate = q.omega * omega;",
        "LINE",
    ),
    "an int": (MORE, "Real more; int n;", "hold nothing but numbers of type Real"),
    "two ints": (MORE, "Real more; int n, m;", "hold nothing but numbers of type Real"),
    "a bool": (MORE, "Real more; bool on;", "hold nothing but numbers of type Real"),
    "a double": (MORE, "double more;", "hold nothing but numbers of type Real"),
    "a float": (MORE, "Real more; float x;", "hold nothing but numbers of type Real"),
    "no relaxation": ("struct Parameters : Relaxation<Real>", "struct Parameters", "begin with a Relaxation"),
    "no base": ("Own : FlowCollision", "Own", "a collision has goes_with<S>"),
    "no parameters": (
        "parameters(const Given& given)",
        "parameter(const Given& given)",
        "a collision has: .*parameters",
    ),
    "no relax": ("relax(const", "relaxed(const", "a collision has relax<S>"),
    "no Parameters": ("struct Parameters", "struct Parameter", "has Parameters<Real>|Parameters"),
    "one of the engine's": ("struct Own :", "using Own = BGK;\nstruct Other :", "is a collision of the engine"),
}


@pytest.mark.parametrize("compiled", COMPILE)
@pytest.mark.parametrize("what", WRONG)
def test_cpus_and_gpus_refuse_the_same_texts_by_their_lines(what: str, compiled: object, tmp_path: Path) -> None:
    old, new, error = WRONG[what]
    header = tmp_path / "own.h"
    header.write_text(changed(old, new))
    if what == "one of the engine's":
        collision = lbm.CustomCollision(header, {"viscosity": 0.1}, name="Other")
        object.__setattr__(
            collision, "engine_text", lambda: {"name": "Own", "file": str(header), "text": header.read_text()}
        )
    else:
        collision = lbm.CustomCollision(header, {"viscosity": 0.1})
    at = TEXT[: TEXT.index(old)].count("\n") + 1
    with pytest.raises(lbm.CompileError, match=error.replace("LINE", rf"own\.h[:(]{at}\b")) as caught:
        compiled(collision)  # type: ignore[operator]
    told = str(caught.value)
    assert re.search(rf"{re.escape(str(header))}[:(]\d+", told), told
    assert "/dev/null" not in told
    if compiled is on_cpu and "LINE" in error:
        assert f" {at} | {header.read_text().splitlines()[at - 1]}\n" in told
        assert told.count("error: ") == 1, told


def test_what_differs_by_the_kind_of_numbers_is_found_with_the_parameters() -> None:
    text = changed(RATE, RATE + "\n static_assert(sizeof(Scalar<V>) != 8);")
    collision = lbm.CustomCollision(text, {"viscosity": 0.1})
    with pytest.raises(lbm.CompileError, match="for GPUs"):
        on_gpu(collision, "float64")


def test_parameters_that_are_left_out_of_a_list_are_named() -> None:
    text = changed("{relaxation(given), " + MADE + "}", "{relaxation(given)}")
    with pytest.raises(lbm.CompileError, match=r"collision\.h:15:.*missing initializer for member .*more"):
        on_cpu(lbm.CustomCollision(text, {"viscosity": 0.1}))


@pytest.mark.parametrize(
    "line",
    [
        "#include <cmath>",
        "  # include <vector>",
        '#include "/tmp/own.h"',
        '#include "own.h"',
        '#include "../../backend/kinds.h"',
        "#define OWN <cmath>\n#include OWN",
        "/* */ #include <cmath>",
        "#inc\\\nlude <cmath>",
        "%:include <cmath>",
        '#include_next "../collide.h"',
        '#include /* */ "../collide.h"',
    ],
)
def test_other_headers_than_the_engines_are_refused_by_name(line: str, tmp_path: Path) -> None:
    header = tmp_path / "own.h"
    header.write_text(changed("namespace lbm {", line + "\n\nnamespace lbm {"))
    at = 4 if line.startswith("#define") else 3
    with pytest.raises(ValueError, match=rf"header: .*own\.h:{at}: '#include.* given, must be .*collide\.h"):
        lbm.CustomCollision(header, {"viscosity": 0.1})


def test_an_include_in_a_comment_or_a_string_is_none() -> None:
    text = TEXT + '// #include <cmath>\n/*\n#include "own.h"\n*/\nnamespace lbm { inline const char* s = R"(\n#x)"; }\n'
    assert lbm.CustomCollision(text, {"viscosity": 0.1}).name == "Own"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    static constexpr const char* name", "    struct In { int i; };\n    static constexpr const char* name"),
        (
            "    static constexpr const char* name",
            "    template <class T> struct In : T {};\n  static constexpr const char* name",
        ),
        ("struct Own", "template <class G> void ask(const G& g, const char* name) { g.positive(name); }\nstruct Own"),
        ("struct Own", "struct Help { const char* name; };\nstruct Own"),
        ("struct Own", "#if 0\n}}}don't\n#elif 1\nstruct Own\n#else\nstruct { int Own;\n#endif\n"),
        ("struct Own", "constexpr int many = 1'000'000; // {\nconstexpr char open = '{';\nstruct Own"),
        ("struct Own : FlowCollision {", "struct Own final : FlowCollision {\n"),
        ('"own";', '"own { // ";'),
    ],
)
def test_the_struct_with_a_name_is_found(old: str, new: str) -> None:
    assert lbm.CustomCollision(changed(old, new), {"viscosity": 0.1}).name == "Own"


@pytest.mark.parametrize(
    ("old", "new", "name", "error"),
    [
        ("}  // namespace lbm", "", None, r"collision\.h:3: a '{' given without its '}'"),
        ("}  // namespace lbm", "}}", None, r"collision\.h:\d+: a '}' given without its '{'"),
        ("namespace lbm {", "namespace mine {", None, "no struct of namespace lbm has a member such as"),
        ("namespace lbm {", "namespace mine {", "Own", "'Own' given, .* in namespace lbm, which has none"),
        ("struct Own", "struct Own", "Regularized", "name: 'Regularized' given, must be .* which has Own"),
        ("struct Own", "struct Own", "Foo", "name: 'Foo' given, must be that of a struct .* which has Own"),
    ],
)
def test_a_struct_that_is_not_there_is_named(old: str, new: str, name: str | None, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        lbm.CustomCollision(changed(old, new), {"viscosity": 0.1}, name=name)


def test_no_other_file_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("collision.h", "own.h"):
        (tmp_path / name).write_text("INNOCENT LINE\n" * 60)
    folder = tmp_path / "sub"
    folder.mkdir()
    text = changed("n.even[k];", "n.evil[k];")
    (folder / "own.h").write_text(text)
    for header, file in ((text, "collision.h"), ("sub/own.h", str(folder / "own.h"))):
        for compiled in COMPILE:
            with pytest.raises(lbm.CompileError, match=re.escape(file) + r"[:(]23\b") as caught:
                compiled(lbm.CustomCollision(header, {"viscosity": 0.1}))
            assert "change.even[k] = rate * n.evil[k];" in str(caught.value)
            assert "INNOCENT" not in str(caught.value)
