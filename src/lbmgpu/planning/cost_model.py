"""The cost model of a step: the time that a tiling of a domain takes, from the speeds of devices and links.

A step of a block of $N$ cells, with $b = 2 Q s$ bytes an update ($Q$ populations of $s$ bytes, each read and written)
on a device that moves $v$ of them a second, and an exchange of $B_l$ bytes over each link $l$ of bandwidth $w_l$:

    update    U = t_0 + R r + N b / v
    exchange  X = sum over kinds of links (latency) + sum over links (B_l / w_l)
    step      T = U + X                                 nothing is updated during the exchange
              T = t_0 + S + max(U - S, X)               with overlap; S is the update of the shell, launched by itself

$t_0$ is the time of a step that does not depend on the size: kernel launches, or threads that wait for each other; $r$
is the time of each of the block's $R$ rows of cells along x, as their ends are treated apart. A latency counts once for
each kind of link that a block uses, as the copies of one kind start together, and their bytes add up. $B_l$ counts each
population that streams in from the neighbour: of velocity $c$ and a block of size $n$, the neighbour in the direction
$e$ (each component -1, 0 or 1) sends

    product over axes ( |c_d| if e_d = -sign(c_d) != 0,  n_d - |c_d| if e_d = 0,  else 0 )

of them, so faces, edges and corners are counted exactly where blocks are as long as the radius of the stencil: a cell
of a face of D2Q37, whose radius is three, gets 15 populations from the neighbour's nearest layer, 8 from the next and 3
from the third, 26 in all, and where a wall ends the face, all populations of the three by three cells there, as the
halo behind the wall is computed from them. The temperature of the hybrid thermal model counts as one more population in
$b$, and each block gets the layer of cells next to it, walls included. Cells that keep $m$ moments are read and written
once for the $k$ steps of an update, so that $b = 2 m s / k$, and exchange once in it: all numbers of the $k$ layers
next to the block, corners included, whose bytes and latency are shared out over the steps. Faces across x may have a
bandwidth of their own, as their populations do not lie in rows. Blocks of one device are updated one after the other,
so their times add up; the domain's step is that of the slowest device.

That the surface of a block decides what is lost, so that slabs suit few devices and fast links, blocks in two or three
dimensions many devices and slow ones, is the analysis of C. Obrecht, F. Kuznik, B. Tourancheau, J.-J. Roux, "Scalable
lattice Boltzmann solvers for CUDA GPU clusters", Parallel Computing 39 (2013) 259; that with overlap a step is the
shell and then the longer of interior and exchange, that of E. Calore, A. Gabbana, J. Kraus, E. Pellegrini, S. F.
Schifano, R. Tripiccione, "Massively parallel lattice-Boltzmann codes on large GPU clusters", Parallel Computing 58
(2016) 1. Lengths are in cells, times in seconds.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

Vector = tuple[int, ...]

LEAST_LAYERS = 8
"""Layers of cells without links through their faces that a block has at least which is given a late interior."""


@dataclass(frozen=True)
class Device:
    """A device that updates cells.

    Attributes:
        name: ``"cpu"``, ``"cuda:0"`` and so on.
        speed: bytes of populations a second that its update reads and writes.
        fixed: seconds that a step of a block takes in addition to those bytes.
        a_row: seconds that each row of cells along x takes in addition to them.
        host: number of the host that it is in.
        rank: of the process that computes on it; if None the number of its host, of which each has one process then.
        model: that devices of equal speed and links share.
    """

    name: str
    speed: float
    fixed: float = 0.0
    a_row: float = 0.0
    host: int = 0
    rank: int | None = None
    model: str = ""

    @property
    def process(self) -> int:
        """The rank of the process that computes on it."""
        return self.host if self.rank is None else self.rank

    @property
    def place(self) -> tuple[int, int, str]:
        """What tells it from other devices: the CPUs of two ranks are parts of one, and each has blocks of its own."""
        return self.host, self.process, self.name


@dataclass(frozen=True)
class Link:
    """A connection from one device's memory to another's.

    Attributes:
        kind: ``"same"`` device, ``"peer"`` (one GPU reads the other's memory), ``"host"`` (through the host's memory),
            ``"ranks"`` (two processes of a host), ``"network"`` (of two hosts).
        bandwidth: bytes a second.
        latency: seconds of an exchange in addition to those bytes.
        x_fraction: fraction of the bandwidth that the exchange through faces across x has.
    """

    kind: str
    bandwidth: float
    latency: float = 0.0
    x_fraction: float = 1.0


@dataclass(frozen=True)
class Machine:
    """Devices for the blocks, and the links between them.

    Attributes:
        devices: one for each block; a device that is named several times has several blocks.
        links: by kind, as far as they are alike.
        pairs: by the names of two devices of one process, from and to: what differs from `links`.
        ways: by ``"ranks"`` or ``"network"`` and the models of two devices of two processes: what differs from `links`.
        hosts: names of the hosts, by their numbers; empty if unknown.
    """

    devices: tuple[Device, ...]
    links: Mapping[str, Link] = field(default_factory=dict)
    pairs: Mapping[tuple[str, str], Link] = field(default_factory=dict)
    ways: Mapping[tuple[str, str, str], Link] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()

    def link(self, source: Device, target: Device) -> Link:
        """The link of two devices: that of their pair, or of their kind (one device, two of a process, two processes of
        a host, two hosts).

        Raises:
            ValueError: the machine has none.
        """
        kinds = ["same"] if source.name == target.name else ["peer", "host"]
        if source.host != target.host:
            kinds = ["network"]
        elif source.process != target.process:
            kinds = ["ranks", *kinds]
        elif (source.name, target.name) in self.pairs:
            return self.pairs[source.name, target.name]
        if (way := (kinds[0], source.model, target.model)) in self.ways:
            return self.ways[way]
        for kind in kinds:
            if kind in self.links:
                return self.links[kind]
        raise ValueError(f"machine: no link from {source.name} to {target.name}, must be of kind {' or '.join(kinds)}")

    @property
    def speed(self) -> float:
        """Bytes a second of all devices together, each counted once."""
        return sum({device.place: device.speed for device in self.devices}.values())


@dataclass(frozen=True)
class Problem:
    """The computation whose step is predicted.

    Attributes:
        shape: the shape of the domain.
        velocities: the velocities of the stencil, ``(Q, D)``.
        item_bytes: the bytes of a stored population.
        periodic: for each axis, whether the domain is periodic along it.
        thermal: whether there is a temperature, which is read and written as one population more.
        turbulence_bytes: what a step reads and writes for velocity gradients, on average.
        moments: the numbers of a cell that keeps moments; 0 if it keeps populations.
        steps: that are advanced for each time that memory is read and written, and halos are exchanged.
        in_place: whether moments are in one lattice: then nothing is updated while the exchange goes on, and a block
            has layers around it along the last axis also where that is not cut.
    """

    shape: Vector
    velocities: tuple[Vector, ...]
    item_bytes: int
    periodic: tuple[bool, ...]
    thermal: bool = False
    turbulence_bytes: int = 0
    moments: int = 0
    steps: int = 1
    in_place: bool = False

    @property
    def cells(self) -> int:
        """The number of cells of the domain."""
        return math.prod(self.shape)

    @property
    def bytes_per_update(self) -> int:
        """Bytes that a cell reads and writes in a step."""
        numbers = self.moments or len(self.velocities) + self.thermal
        return 2 * numbers * self.item_bytes // self.steps + self.turbulence_bytes

    @property
    def radius(self) -> int:
        """Radius of the stencil: the number of cells that the fastest population moves along an axis in a step."""
        return max(abs(component) for velocity in self.velocities for component in velocity)

    @property
    def depth(self) -> int:
        """The number of layers around a block that an update needs."""
        return self.radius * self.steps


@dataclass(frozen=True)
class Tiling:
    """Parts along each axis; the blocks are all their combinations, the last axis changing fastest.

    Attributes:
        sizes: of the parts, for each axis; they add up to the domain's shape.
    """

    sizes: tuple[Vector, ...]

    @property
    def parts(self) -> Vector:
        """The number of blocks along each axis."""
        return tuple(len(sizes) for sizes in self.sizes)

    def places(self) -> Iterator[Vector]:
        """The place of each block, its number along each axis, in the order in which blocks go to devices."""
        return itertools.product(*(range(n) for n in self.parts))

    def size(self, place: Vector) -> Vector:
        """The size of the block at a place."""
        return tuple(sizes[k] for sizes, k in zip(self.sizes, place, strict=True))

    def offset(self, place: Vector) -> Vector:
        """The first cell of the block at a place."""
        return tuple(sum(sizes[:k]) for sizes, k in zip(self.sizes, place, strict=True))


@dataclass(frozen=True)
class Prediction:
    """The time of a step and the speed that the model predicts.

    Attributes:
        step_seconds: the step of the slowest device, which all others wait for.
        update_seconds, exchange_seconds: the parts of that step.
        mlups: million cell updates a second of the domain.
        efficiency: that speed as a part of the update speeds of all devices together.
    """

    step_seconds: float
    update_seconds: float
    exchange_seconds: float
    mlups: float
    efficiency: float


def predict(machine: Machine, problem: Problem, tiling: Tiling, overlap: bool = False) -> Prediction:
    """The step of a tiling, whose blocks go to the machine's devices in order.

    Args:
        machine: one device for each block.
        problem: what is computed.
        tiling: of the problem's shape.
        overlap: the interior is updated while the exchange goes on, after the shell; else nothing is.

    Raises:
        ValueError: not as many blocks as devices, sizes that do not add up to the shape, or a link that is missing.
    """
    if math.prod(tiling.parts) != len(machine.devices):
        raise ValueError(f"tiling: {math.prod(tiling.parts)} blocks given for {len(machine.devices)} devices")
    if tuple(sum(sizes) for sizes in tiling.sizes) != problem.shape:
        raise ValueError(f"tiling: sizes {tiling.sizes} given, must add up to the shape {problem.shape}")
    owners = dict(zip(tiling.places(), machine.devices, strict=True))
    times: dict[tuple[int, int, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for place, device in owners.items():
        sums = times[device.place]
        for k, seconds in enumerate(block_seconds(machine, problem, tiling, owners, place, overlap)):
            sums[k] += seconds
    step, update, exchange = max(times.values())
    ideal = problem.cells * problem.bytes_per_update / machine.speed
    return Prediction(step, update, exchange, problem.cells / step / 1e6, ideal / step)


def has_interiors(problem: Problem, parts: Vector, machine: Machine) -> bool:
    """Whether the blocks of a cut have an interior that is updated during the exchange.

    Where rows are cut, and not on CPUs or in the multispeed model, they are late interiors, of GPUs that read each
    other's memory and of blocks with enough layers: see `late_interior` in the engine.
    """
    if problem.moments:
        return not problem.in_place
    if parts[0] == 1 or problem.radius > 1 or all(device.name == "cpu" for device in machine.devices):
        return True
    layers = [n // k - 2 * (k > 1) for n, k in zip(problem.shape[1:], parts[1:], strict=True)]
    return not problem.thermal and max(layers) >= LEAST_LAYERS and _are_linked_directly(machine)


def _are_linked_directly(machine: Machine) -> bool:
    """Whether all devices are GPUs of one host that read each other's memory."""
    names = {(device.host, device.process, device.name): device for device in machine.devices}
    if any(device.name == "cpu" for device in machine.devices) or len({host for host, _, _ in names}) > 1:
        return False
    pairs = itertools.permutations(names.values(), 2)
    return all(machine.link(source, target).kind in {"same", "peer", "ranks"} for source, target in pairs)


def block_seconds(
    machine: Machine, problem: Problem, tiling: Tiling, owners: Mapping[Vector, Device], place: Vector, overlap: bool
) -> tuple[float, float, float]:
    """Seconds of the step, the update and the exchange of the block at a place, of which `owners` has the devices."""
    device, size = owners[place], tiling.size(place)
    cells = math.prod(size)
    update = device.fixed + cells // size[0] * device.a_row + cells * problem.bytes_per_update / device.speed
    exchange, neighbours = _exchange(machine, problem, tiling, owners, place)
    step = update + exchange
    if overlap:
        shell = _shell_cells(size, neighbours, problem.depth) * problem.bytes_per_update / device.speed
        step = (device.fixed if neighbours else 0.0) + shell + max(update - shell, exchange)
    return step, update, exchange


def crossing(velocities: tuple[Vector, ...], axis: int) -> tuple[int, ...]:
    """How many populations stream into a cell at a face across an axis from each of the layers behind it, nearest
    first, edges of the face left aside."""
    radius = max(abs(velocity[axis]) for velocity in velocities)
    return tuple(sum(velocity[axis] >= layer for velocity in velocities) for layer in range(1, radius + 1))


def incoming_bytes(problem: Problem, tiling: Tiling, place: Vector) -> tuple[int, int]:
    """Bytes that the block at a place imports in a step through its faces across x, and through the other faces."""
    across = along = 0
    for direction, _, count in _ways(problem, tiling, place):
        across += count * problem.item_bytes if direction[0] != 0 else 0
        along += count * problem.item_bytes if direction[0] == 0 else 0
    return across // problem.steps, along // problem.steps


def _exchange(
    machine: Machine, problem: Problem, tiling: Tiling, owners: Mapping[Vector, Device], place: Vector
) -> tuple[float, set[tuple[int, int]]]:
    """The time of a block's imports, and the faces, (axis, -1 or 1), across which it has neighbours."""
    own = owners[place]
    latencies: dict[str, float] = {}
    seconds = 0.0
    neighbours: set[tuple[int, int]] = set()
    for direction, neighbour, count in _ways(problem, tiling, place):
        link = machine.link(owners[neighbour], own)
        bandwidth = link.bandwidth * (link.x_fraction if direction[0] != 0 else 1.0)
        seconds += count * problem.item_bytes / bandwidth
        latencies[link.kind] = max(link.latency, latencies.get(link.kind, 0.0))
        neighbours.update((axis, e) for axis, e in enumerate(direction) if e != 0 and tiling.parts[axis] > 1)
    return (seconds + sum(latencies.values())) / problem.steps, neighbours


def _ways(problem: Problem, tiling: Tiling, place: Vector) -> Iterator[tuple[Vector, Vector, int]]:
    """The imports of a block in an update: through which of its faces, edges and corners, from which block, how many
    numbers."""
    if problem.moments:
        yield from _of_moments(problem, tiling, place)
        return
    size = tiling.size(place)
    ways = [(direction, direction, count) for direction, count in incoming_counts(problem.velocities, size)]
    if problem.thermal:
        ways += _temperatures(problem, tiling, place)
    if problem.radius > 1:
        ways += _before_walls(problem, tiling, place)
    for direction, inside, count in ways:
        neighbour = _neighbour(place, inside, tiling.parts, problem.periodic)
        if neighbour is not None and neighbour != place:
            yield direction, neighbour, count


def _of_moments(problem: Problem, tiling: Tiling, place: Vector) -> Iterator[tuple[Vector, Vector, int]]:
    """The imports of a block whose cells keep moments: all of those of as many layers as an update has steps, which lie
    in several blocks where these are thinner. Along axes that are not cut it follows itself, or imports the layers of
    others beside its own."""
    axes = []
    for axis, (sizes, part, around) in enumerate(zip(tiling.sizes, place, problem.periodic, strict=True)):
        has_layers = len(sizes) > 1 or (problem.in_place and axis + 1 == len(tiling.sizes))
        ends = list(itertools.accumulate(sizes))
        first, end, total = ends[part] - sizes[part], ends[part], ends[-1]
        layers = {(0, part): sizes[part]}
        for e, beside in ((-1, range(first - problem.depth, first)), (1, range(end, end + problem.depth))):
            for at in beside if has_layers else ():
                if around or 0 <= at < total:
                    key = e, bisect.bisect_right(ends, at % total)
                    layers[key] = layers.get(key, 0) + 1
        axes.append(layers.items())
    for entries in itertools.product(*axes):
        direction, neighbour = (tuple(key[which] for key, _ in entries) for which in (0, 1))
        if neighbour != place:
            yield direction, neighbour, problem.moments * math.prod(count for _, count in entries)


def _before_walls(problem: Problem, tiling: Tiling, place: Vector) -> list[tuple[Vector, Vector, int]]:
    """The populations of halo cells before a wall that do not stream into the block: for a long-range stencil the halo
    behind a wall is computed from whole cells before it, so the block imports all populations of those next to it."""
    found: list[tuple[Vector, Vector, int]] = []
    size, radius = tiling.size(place), problem.radius
    for wall, along in ((0, 1), (1, 0)) if len(size) == 2 else ():
        if problem.periodic[wall]:
            continue
        n, k, parts = size[wall], place[wall], tiling.parts[wall]
        rows = [y for y in range(n) if (k == 0 and y < radius) or (k == parts - 1 and y >= n - radius)]
        count = sum(
            velocity[along] < layer or not 0 <= y + velocity[wall] < n
            for velocity in problem.velocities
            for layer in range(1, radius + 1)
            for y in rows
        )
        for e in (-1, 1):  # the velocities are symmetric
            direction = (e, 0) if along == 0 else (0, e)
            found.append((direction, direction, count))
    return found


def _temperatures(problem: Problem, tiling: Tiling, place: Vector) -> list[tuple[Vector, Vector, int]]:
    """The temperatures that a block imports: for each direction, its part that stays in the domain, and their number.

    Those behind a wall come from the neighbour along the wall, which computes them from its own cells.
    """
    found = []
    size = tiling.size(place)
    for direction in problem.velocities:
        ends = zip(place, direction, tiling.parts, problem.periodic, strict=True)
        inside = tuple(e if around or 0 <= k + e < n else 0 for k, e, n, around in ends)
        count = math.prod(1 if e else n for e, n in zip(direction, size, strict=True))
        found.append((direction, inside, count))
    return found


def _neighbour(place: Vector, direction: Vector, parts: Vector, periodic: tuple[bool, ...]) -> Vector | None:
    """The block in a direction; None beyond a face of the domain that is not periodic."""
    found = []
    for k, e, n, around in zip(place, direction, parts, periodic, strict=True):
        if not 0 <= k + e < n and not around:
            return None
        found.append((k + e) % n)
    return tuple(found)


def rank_of(prediction: Prediction, tiling: Tiling) -> tuple[float, Vector]:
    """The sort key of a tiling: its time, rounded; tilings of equal time are ordered so that those that leave x whole
    come first."""
    return float(f"{prediction.step_seconds:.9g}"), tiling.parts


@lru_cache(maxsize=4096)
def incoming_counts(velocities: tuple[Vector, ...], size: Vector) -> tuple[tuple[Vector, int], ...]:
    """How many populations stream into a block of `size` from each direction; directions without any are left out."""
    found = []
    for direction in itertools.product((-1, 0, 1), repeat=len(size)):
        if not any(direction):
            continue
        count = 0
        for velocity in velocities:
            ways = 1
            for c, e, n in zip(velocity, direction, size, strict=True):
                if e == 0:
                    ways *= max(n - abs(c), 0)
                else:  # populations from the lower side have a positive velocity
                    ways *= min(abs(c), n) if c * e < 0 else 0
            count += ways
        if count:
            found.append((direction, count))
    return tuple(found)


def _shell_cells(size: Vector, neighbours: set[tuple[int, int]], depth: int) -> int:
    """The number of cells within `depth` of a face behind which another block lies."""
    inner = 1
    for axis, n in enumerate(size):
        inner *= max(0, n - depth * sum((axis, e) in neighbours for e in (-1, 1)))
    return math.prod(size) - inner
