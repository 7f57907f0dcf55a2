"""How a figure is written, and what a row compares: Kernpack with a peer, or two ways of Kernpack with each other.

Only a comparison with a peer can be a win or a loss. The other ones get an axis with words of their own."""

from __future__ import annotations

from report import Row

PEER = "our time / the peer's"
PEER_SIZE = "our size / the peer's"
BOUND = "the least possible / the peer's"
# Peers that are Kernpack itself, or the least that anything can take, and what such a ratio says.
NOT_A_PEER = {
    "unchecked": "with the checking mode / without",
    "idle": "beside two busy processes / on an idle machine",
    "ours, three read": "three written arguments / three that are read",
    "ours, three plain tensors": "three Parameters / three plain tensors",
    "ours, without the hook": "with the hook / without",
    "our operator": "k.op / the operator in torch.ops",
    "the plain product": "a product and what follows it / the plain product",
    "kernels/, by hand": "generated code / handwritten code",
    "written by hand, same arithmetic": "generated code / handwritten code",
    "kind llvm": "the generator of kind c / of kind llvm",
    "the same by hand": "a planned program / the same by hand",
    "sum of values": "memory at the peak / sum of all values",
    "kp_call into tensors made before": "a planned program / kp_call into tensors made before",
    "pointers before the loop": "a way to an element / pointers taken before the loop",
    "empty METH_FASTCALL": "our time / an empty C function, the least possible",
}
_SMALLER = {"ns": ("ns", "µs", "ms", "s"), "us": ("µs", "ms", "s"), "ms": ("ms", "s")}


def axis(row: Row) -> str:
    """The words for the axis on which a row stands: rows with the same words share a panel."""
    if row.ratio is None:
        return row.unit
    if "in the place of ours" in row.note:
        return BOUND
    return NOT_A_PEER.get(row.peer, PEER_SIZE if row.unit in ("KiB", "MiB") else PEER)


def beside_a_peer(row: Row) -> bool:
    return row.ratio is not None and axis(row) in (PEER, PEER_SIZE)


def three_digits(value: float) -> str:
    """128, 12.3, 1.20, 0.59, 0.0004: never a value that isn't 0 as 0."""
    if value >= 100 or value == 0:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:#.2g}" if value >= 0.01 else f"{value:.1g}"


def amount(value: float | None, unit: str) -> str:
    """A value with the unit that keeps it below 1,000 where there is one: 128 ns, 1.20 µs, 1.40 ms, 38.5 KiB."""
    if value is None:
        return "-"
    units = _SMALLER.get(unit, (unit,))
    for smaller in units[:-1]:
        if value < 999.5:
            return f"{three_digits(value)} {smaller}"
        value /= 1000
    return f"{three_digits(value)} {units[-1]}".rstrip()
