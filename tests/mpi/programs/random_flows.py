"""Random flows of all models in random layouts over all ranks hold, to the last bit, what one block holds.

Channels, schedules, threads, devices and shares of the CPU are random too, and so are the hosts that the ranks pretend
to be on: blocks name their rank, or only its host. To look at many of them:

    mpiexec -n 3 python tests/mpi/programs/random_flows.py --count 2000 --seed 1
    mpiexec -n 2 python tests/mpi/programs/random_flows.py --count 500 --devices cuda,cpu,auto --layouts-a-flow 10

A failure names the seed by which ``--only`` repeats it.
"""

import argparse
import os
import sys
import time
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from attack.layouts import ends_of_blocks, random_flow, with_cpu_share
from random_layouts import random_layout

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
NAMES = ("a", "b", "c")


def arguments() -> argparse.Namespace:
    """Those of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="number of layouts")
    parser.add_argument("--seed", type=int, default=0, help="of all of them")
    parser.add_argument("--devices", default="cpu", help="that blocks may be on: cpu, cuda, auto, cuda:1, with commas")
    parser.add_argument("--layouts-a-flow", type=int, default=2, help="a GPU compiles kernels for each flow")
    parser.add_argument("--only", type=int, nargs=2, help="the numbers of a flow and a layout, as a failure names them")
    return parser.parse_args()


def named_hosts(rng: np.random.Generator, layout: lbm.Layout, hosts: list[str]) -> lbm.Layout:
    """The layout with hosts for some blocks; sometimes for all of them, and no ranks."""
    way = int(rng.integers(3))
    only_hosts = way == 2 and all(
        sum(hosts[int(block.rank or 0)] == host for block in layout) >= hosts.count(host) for host in set(hosts)
    )
    blocks = []
    for block in layout:
        host = hosts[int(block.rank or 0)]
        named = only_hosts or (way > 0 and rng.random() < 0.5)
        blocks.append(
            replace(block, host=host if named and host else None, rank=None if only_hosts and host else block.rank)
        )
    return lbm.Layout(blocks)


def same_bits(flow: int, seed: int, devices: list[str]) -> str:
    """Step the random flow of a number in one block and, as `seed` has it, in several; the model of the flow."""
    model, case, options = random_flow(np.random.default_rng(flow))
    rng = np.random.default_rng(seed)
    hosts = rng.choice(NAMES[: int(rng.integers(1, 4))], size).tolist() if rng.random() < 0.7 else [""] * size
    os.environ["LBMGPU_HOST"] = hosts[rank]
    names = rng.choice(devices, 4).tolist()
    try:
        ends = ends_of_blocks(case)
        layout = random_layout(rng, case.shape, size, names, ends, tries=100)
    except ValueError:  # too few cells for a block on each rank
        return "too small"
    share = float(rng.choice([0.0, 0.2, 0.5]))  # with blocks of "auto" it is left to a solver
    layout = with_cpu_share(layout, share, ends)
    layout = named_hosts(rng, layout, hosts)
    options["threads"] = int(rng.integers(1, 3))
    channel, schedule = str(rng.choice(["auto", "staged", "mpi"])), str(rng.choice(["auto", "blocking", "overlap"]))
    steps = int(rng.integers(1, 13))
    many = case.solver(layout=layout, device="auto", channel=channel, schedule=schedule, comm=world, **options)
    many._simulation.advance(steps)  # without a look at whether the flow is stable: not all of them are
    fields = ["populations", "density", "velocity"] + (["temperature"] if model != "isothermal" else [])
    ours = {field: getattr(many, field)(gather=True) for field in fields}
    right = True
    if rank == 0:
        one = case.solver(device="cpu" if devices == ["cpu"] else "auto", comm=MPI.COMM_SELF, **options)
        one._simulation.advance(steps)
        for field in fields:
            theirs = getattr(one, field)()
            if not np.array_equal(ours[field], theirs, equal_nan=True):
                right = False
                print(
                    f"{field} of {case.shape} after {steps} steps differs in {layout} on hosts {hosts}, {options}, "
                    f"{channel!r}, {schedule!r}; repeat it with --only {flow} {seed}",
                    flush=True,
                )
    assert world.bcast(right), "the bits differ"
    return model


def main() -> None:
    """Go through the layouts, and say of which models they were."""
    given: Any = arguments()
    devices = given.devices.split(",")
    warnings.simplefilter("ignore", RuntimeWarning)
    rng, start = np.random.default_rng(given.seed), time.monotonic()
    ended: Counter[str] = Counter()
    drawn = 0
    while ended.total() - ended["too small"] < (1 if given.only else given.count):
        if drawn % given.layouts_a_flow == 0:
            flow = int(rng.integers(2**32))
        drawn += 1
        numbers = given.only or (flow, int(rng.integers(2**32)))
        ended[same_bits(*numbers, devices)] += 1
    if rank == 0:
        seen = ", ".join(f"{count} {model}" for model, count in ended.most_common() if model != "too small")
        total = ended.total() - ended["too small"]
        print(f"{total} random layouts over {size} ranks in {time.monotonic() - start:.0f} s: {seen}", flush=True)
    print(f"rank {rank} of {size} is done\n", end="", flush=True)


main()
