"""Brackets the Reynolds number at which the flow past a cylinder between two walls begins to oscillate.

A study is asked for growth rates, two at a time: of a small disturbance of the symmetric flow, which decays below the
critical Reynolds number and grows above it. Run it again, for a narrower bracket say, and nothing is computed twice:

python examples/critical_reynolds.py
python examples/critical_reynolds.py --diameter 48 --width 0.005

The channel is two diameters high (blockage 0.5); the Reynolds number is that of the diameter and of the largest speed
of the inlet's parabola. Sahin & Owens (Phys. Fluids 16 (2004) 1305) have 124.09 for that.
"""

from __future__ import annotations

import argparse

import numpy as np

import lbmgpu as lbm

PUBLISHED = 124.09
UPSTREAM, DOWNSTREAM = 4, 10  # diameters from the cylinder to the inlet and to the outlet


def growth(case, reynolds, diameter, velocity, times):
    """Growth rate and frequency of the lift, in units of `velocity` over `diameter`, after so many of these times."""
    length, height = (UPSTREAM + DOWNSTREAM) * diameter, 2 * diameter
    domain = lbm.Domain((length, height), stencil="D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.faces["+x"] = lbm.PressureOutlet()

    def parabola(x, y):
        return 4 * velocity * y / height * (1 - y / height), 0.0

    domain.faces["-x"] = lbm.VelocityInlet(parabola)
    x, y = np.meshgrid(np.arange(length) + 0.5, np.arange(height) + 0.5, indexing="ij")
    domain.add_body((x - UPSTREAM * diameter) ** 2 + (y - diameter) ** 2 < (diameter / 2) ** 2, "cylinder")

    def disturbed(x, y):  # by a pair of weak vortices: the cells lie symmetrically, and would give the symmetric flow
        along, across = (x - (UPSTREAM + 1.5) * diameter) / diameter, (y - diameter) / diameter
        stream = 1e-5 * velocity * np.exp(-(along**2) - 4 * across**2)
        return parabola(x, y)[0] - 8 * across * stream, 2 * along * stream

    viscosity = velocity * diameter / reynolds
    solver = case.solver(domain, lbm.TRT(viscosity), precision="float64", initial={"velocity": disturbed})
    lift = list(case.saved.get("lift", []))
    interval = max(1, round(diameter / velocity / 20))
    steps = round(times * diameter / velocity)
    collect = lbm.Every(interval, lambda solver: lift.append(solver.body_force("cylinder")[1]))
    case.run(solver, steps, save_every=10_000, arrays={"lift": lift}, callbacks=[collect])
    smooth = np.convolve(lift[len(lift) * 5 // 8 :], np.ones(14) / 14, "valid")  # sound between the walls is faster
    rate = leading_rate(smooth, interval * velocity / diameter)
    return {"growth": rate.real, "frequency": rate.imag / (2 * np.pi), "lift": lift}


def leading_rate(samples, interval):
    """The complex rate of the strongest oscillation in samples that a few exponentials add up to, by a matrix pencil.

    Hua & Sarkar, IEEE Trans. Acoust. Speech Signal Process. 38 (1990) 814.
    """
    rows = np.lib.stride_tricks.sliding_window_view(samples, len(samples) // 3)
    left, values, right = np.linalg.svd(rows[:, :-1], full_matrices=False)
    left, values, right = left[:, :6], values[:6], right[:6]
    shift = (left.T @ rows[:, 1:] @ right.T) / values[:, None]
    rates = np.log(np.linalg.eigvals(shift).astype(complex)) / interval
    amplitudes = np.linalg.lstsq(np.exp(np.outer(np.arange(len(samples)) * interval, rates)), samples, rcond=None)[0]
    slow = (rates.imag > 0.2 * 2 * np.pi) & (rates.imag < 0.5 * 2 * np.pi)
    if not slow.any():
        raise ValueError("no oscillation was found in the lift; a longer run would show it")
    return rates[slow][np.argmax(np.abs(amplitudes[slow]))]


def main() -> None:
    """Ask for growth rates until the bracket is narrow."""
    parser = argparse.ArgumentParser(description="Bracket the critical Reynolds number of a cylinder of blockage 0.5.")
    parser.add_argument("--diameter", type=int, default=32, help="of the cylinder, an even number of cells (32)")
    parser.add_argument("--velocity", type=float, default=0.03, help="largest speed of the inlet, cells a step (0.03)")
    parser.add_argument("--times", type=float, default=80, help="length of a run, diameters over velocities (80)")
    parser.add_argument("--width", type=float, default=0.01, help="of the bracket, as a part of its middle (0.01)")
    parser.add_argument("--low", type=float, default=112.0, help="Reynolds number to begin with (112)")
    parser.add_argument("--high", type=float, default=132.0, help="another one, above the critical one (132)")
    parser.add_argument("--folder", default="critical_reynolds", help="of the study (critical_reynolds)")
    arguments = parser.parse_args()
    fixed = {"diameter": arguments.diameter, "velocity": arguments.velocity, "times": arguments.times}

    study = lbm.Study(growth, ["reynolds", "diameter", "velocity", "times"], arguments.folder)
    known: dict[float, float] = {}

    def ask(*reynolds):
        found = study.ask([{"reynolds": round(float(value), 3), **fixed} for value in reynolds], progress=True)
        for row in range(found.sizes["case"]):
            one = found.isel(case=row)
            if one.status != "done":
                raise SystemExit(f"Re {float(one.reynolds)}: {one.message.item()}")
            known[float(one.reynolds)] = float(one.growth)
            rates = f"growth rate {float(one.growth):+.4f} U/D, frequency {float(one.frequency):.4f} U/D"
            print(f"Re {float(one.reynolds):8.3f}: {rates}", flush=True)

    with study:
        ask(arguments.low, arguments.high)
        while True:
            low = max((value for value, rate in known.items() if rate < 0), default=None)
            high = min((value for value, rate in known.items() if rate > 0), default=None)
            if low is None or high is None:
                raise SystemExit("the critical Reynolds number is not between --low and --high")
            zero = low - known[low] * (high - low) / (known[high] - known[low])
            if high - low <= arguments.width * zero:
                break
            aside = 0.45 * arguments.width * zero
            ask(max(zero - aside, (3 * low + zero) / 4), min(zero + aside, (3 * high + zero) / 4))

    print(f"critical Reynolds number between {low:.2f} and {high:.2f}, by interpolation {zero:.2f}")
    print(f"Sahin & Owens (2004): {PUBLISHED}; deviation {100 * (zero / PUBLISHED - 1):+.1f} %")


if __name__ == "__main__":
    main()
