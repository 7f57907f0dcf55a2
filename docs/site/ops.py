"""A page per operation of the wheel kernpack-kernels, from the wheel itself: its text, contract, gradients, dtypes, errors that are
measured here (op_facts.py), and an example that is run here, so that its output is real."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import textwrap
from pathlib import Path

import op_formulas

# The example of each op. An op without one fails the build.
EXAMPLES = {
    "adamw": """\
params, grads = [np.ones(2, np.float32)], [np.array([0.5, -2], np.float32)]
mean, square = [np.zeros(2, np.float32)], [np.zeros(2, np.float32)]
k.adamw(params, grads, mean, square, 1, 0.1)  # step 1, a learning rate of 0.1
print(params[0])
""",
    "add_layer_norm": """\
x, residual = np.array([[1, 2]], np.float32), np.array([[2, 2]], np.float32)
out, total = k.add_layer_norm(
    x, residual, np.ones(2, np.float32), np.array([0, 5], np.float32)
)
print(out, total)
""",
    "add_rms_norm": """\
x, residual = np.array([[1, 2]], np.float32), np.array([[2, 2]], np.float32)
out, total = k.add_rms_norm(x, residual, np.ones(2, np.float32))
print(out, total)
""",
    "apply_repetition_penalty": """\
logits = np.array([2, -1, 3], np.float32)
k.apply_repetition_penalty(logits, np.array([0, 1, 1, -1]), penalty=2)  # -1: padding
print(logits)
""",
    "apply_rope": """\
x = np.array([[[1, 0, 0, 1]]], np.float32)  # one position, one head
# a quarter of a turn
k.apply_rope(x, np.zeros((1, 2), np.float32), np.ones((1, 2), np.float32))
print(x)
""",
    "argmax": """\
print(k.argmax(np.array([[1, 3, 2], [5, 4, 5]], np.float32)))
""",
    "attention": """\
# a batch of one, three tokens, one head
x = np.arange(6, dtype=np.float32).reshape(1, 3, 1, 2)
print(k.attention(x, x, x, causal=True)[0, :, 0])
""",
    "clip_grad_norm": """\
grads = [np.array([3], np.float32), np.array([0, 4], np.float32)]
print(k.clip_grad_norm(grads, max_norm=1), grads)
""",
    "cross_entropy": """\
logits = np.array([[2, 1, 0], [0, 0, 5]], np.float32)
print(k.cross_entropy(logits, np.array([0, 1])))
# the second row has no target
print(k.cross_entropy(logits, np.array([0, -100]), label_smoothing=0.1))
""",
    "embedding": """\
table = np.arange(8, dtype=np.float32).reshape(4, 2)
print(k.embedding(table, np.array([3, 0])))
""",
    "fused_linear_cross_entropy": """\
# logits 1, 2 and 3
x, weight = np.array([[1, 2]], np.float32), np.array([[1, 0], [0, 1], [1, 1]], np.float32)
print(k.fused_linear_cross_entropy(x, weight, np.array([2])))
print(k.cross_entropy(x @ weight.T, np.array([2])))
""",
    "geglu": """\
gate, up = np.array([-1, 0, 2], np.float32), np.ones(3, np.float32)
print(k.geglu(gate, up), k.geglu(gate, up, approximate="tanh"))
""",
    "gelu": """\
x = np.array([-1, 0, 1, 2], np.float32)
print(k.gelu(x))
print(k.gelu(x, approximate="tanh"))
""",
    "group_norm": """\
x = np.array([[[1, 3], [5, 7], [0, 0], [2, 4]]], np.float32)  # one item of four channels
print(k.group_norm(x, np.ones(4, np.float32), groups=2))
""",
    "l2_normalize": """\
print(k.l2_normalize(np.array([[3, 4], [0, 2]], np.float32)))
""",
    "layer_norm": """\
x = np.array([[1, 2, 3, 4]], np.float32)
print(k.layer_norm(x, np.ones(4, np.float32), np.zeros(4, np.float32)))
""",
    "linear": """\
x, weight = np.array([[1, -2]], np.float32), np.array([[1, 1], [2, 0]], np.float32)
print(k.linear(x, weight, bias=np.array([0, 1], np.float32), activation="relu"))
""",
    "cumsum": """\
print(k.cumsum(np.array([1, 2, 3], np.float32)))
""",
    "grouped_linear": """\
x = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
weight = np.array([[[1, 1]], [[10, 0]]], np.float32)  # two experts of one output
# which expert each row is for
order, offsets = k.sort_into_groups(np.array([1, 0, 1]), count=2)
print(order, k.grouped_linear(x[order], weight, offsets)[:, 0])
""",
    "sort_into_groups": """\
order, offsets = k.sort_into_groups(np.array([1, 0, 1]), count=3)
print(order, offsets)  # row 1 is of group 0, rows 0 and 2 of group 1, no row of group 2
""",
    "segment_sum": """\
x = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
print(k.segment_sum(x, np.array([0, 2])))  # rows 0 and 1, row 2
""",
    "scatter_sum": """\
x = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
# row 2 is the sum of the first and the last
print(k.scatter_sum(x, np.array([2, 0, 2]), rows=4))
""",
    "softmax_columns": """\
# each column adds up to 1
print(k.softmax_columns(np.array([[0, 1], [0, 3]], np.float32)))
""",
    "embedding_bag": """\
table = np.array([[1, 10], [2, 20], [3, 30]], np.float32)
# rows 0 and 2, row 1
print(k.embedding_bag(table, np.array([0, 2, 1]), np.array([0, 2]), mode="mean"))
""",
    "causal_conv1d": """\
# one channel, two taps
x, weight = np.array([[[1], [2], [4]]], np.float32), np.array([[1, 10]], np.float32)
print(k.causal_conv1d(x, weight)[0, :, 0])  # 10 times a row, and once the row before it
""",
    "causal_conv1d_update": """\
state, weight = np.zeros((1, 1, 1), np.float32), np.array([[1, 10]], np.float32)
for x in (1, 2, 4):  # the same, a row at a time
    print(
        k.causal_conv1d_update(np.full((1, 1, 1), x, np.float32), state, weight)[0, 0, 0]
    )
""",
    "masked_attention": """\
# a batch of one, three tokens, one head
x = np.arange(6, dtype=np.float32).reshape(1, 3, 1, 2)
print(k.masked_attention(x, x, x, np.array([[[[True, True, False]]]]))[0, :, 0])
""",
    "lion": """\
params, grads, mean = (
    [np.ones(2, np.float32)],
    [np.array([0.5, -2], np.float32)],
    [np.zeros(2, np.float32)],
)
k.lion(params, grads, mean, 0.1)  # a learning rate of 0.1
print(params[0])
""",
    "mean_pool": """\
# three tokens, the last one is padding
x = np.array([[1, 2], [3, 4], [50, 60]], np.float32)
print(k.mean_pool(x, np.array([True, True, False])))
""",
    "pack_int4": """\
values, scales = (
    np.tile(np.array([-8, -1, 0, 7], np.int8), (1, 8)),
    np.array([[0.5]], np.float32),
)
weight = k.pack_int4(values, scales)  # one group of 32 columns
print(k.packed_embedding(weight, np.array([0]), columns=32)[0, :4])
""",
    "pack_int8": """\
values, scales = (
    np.tile(np.array([0, 128, 255], np.uint8), (1, 32)),
    np.array([[0.5]], np.float32),
)
# one group of 96 columns
weight = k.pack_int8(values, scales, zeros=np.array([[128]], np.float32))
print(k.packed_embedding(weight, np.array([0]), columns=96)[0, :3])
""",
    "pack_linear": """\
weight = k.pack_linear(np.array([[1, 1], [2, 0]], np.float32))
print(k.packed_linear(np.array([[1, -2]], np.float32), weight))
""",
    "pack_q4_0": """\
blocks = np.zeros((2, 18), np.uint8)  # two rows of 32 zeros, as they lie in a GGUF file
print(k.pack_q4_0(blocks).shape)
""",
    "pack_q4_1": """\
blocks = np.zeros((2, 20), np.uint8)  # two rows of 32 zeros, as they lie in a GGUF file
print(k.pack_q4_1(blocks).shape)
""",
    "pack_q4_k": """\
blocks = np.zeros((2, 144), np.uint8)  # two rows of 256 zeros, as they lie in a GGUF file
print(k.pack_q4_k(blocks).shape)
""",
    "pack_q6_k": """\
blocks = np.zeros((2, 210), np.uint8)  # two rows of 256 zeros, as they lie in a GGUF file
print(k.pack_q6_k(blocks).shape)
""",
    "pack_q8_0": """\
scale = np.full((1, 1), 0.5, np.float16).view(np.uint8)
# a row of 0, 0.5, 1, ...
blocks = np.concatenate([scale, np.arange(32, dtype=np.uint8)[None]], axis=1)
print(k.packed_embedding(k.pack_q8_0(blocks), np.array([0]), columns=32)[0, :4])
""",
    "packed_embedding": """\
scales = np.array([[1], [2]], np.float16).view(np.uint8)
# ggml's Q8_0: a row of ones, one of twos
blocks = np.concatenate([scales, np.ones((2, 32), np.uint8)], axis=1)
weight = k.pack_q8_0(blocks)
print(k.packed_embedding(weight, np.array([1, 0]), columns=32)[:, :3])
""",
    "packed_linear": """\
scales = np.array([[1], [2]], np.float16).view(np.uint8)
# ggml's Q8_0: a row of ones, one of twos
blocks = np.concatenate([scales, np.ones((2, 32), np.uint8)], axis=1)
weight = k.pack_q8_0(blocks)
print(
    k.packed_linear(
        np.ones((1, 32), np.float32), weight, bias=np.array([0, 1], np.float32)
    )
)
""",
    "paged_attention": """\
cache = np.zeros((2, 4, 1, 2), np.float16)  # two pages of four rows, one head
# page 1 comes first; two tokens so far
table, lengths = np.array([[1, 0]], np.int32), np.array([2], np.int32)
x = np.array([[[[1, 0]], [[0, 1]]]], np.float32)
k.paged_store(cache, x, table, lengths)
print(k.paged_attention(x[:, 1:], cache, cache, table, lengths))
""",
    "paged_quantize": """\
cache, scales = np.zeros((1, 4, 1, 2), np.int8), np.zeros((1, 4, 1), np.float32)
x, table = np.array([[[[1, 127]]]], np.float32), np.zeros((1, 1), np.int32)
k.paged_quantize(cache, scales, x, table, np.array([3], np.int32))  # the third token
print(cache[0, 2], scales[0, 2])
""",
    "paged_store": """\
cache = np.zeros((1, 4, 1, 2), np.float16)  # one page of four rows
x, table = np.array([[[[1, 2]]]], np.float32), np.zeros((1, 1), np.int32)
k.paged_store(cache, x, table, np.array([3], np.int32))  # the third token
print(cache[0, :, 0])
""",
    "rms_norm": """\
print(k.rms_norm(np.array([[1, 2, 3, 4]], np.float32), np.ones(4, np.float32)))
""",
    "rope": """\
x = np.array([[[1, 0, 0, 1]]], np.float32)  # one position, one head
# a quarter of a turn
cos, sin = np.zeros((1, 2), np.float32), np.ones((1, 2), np.float32)
print(k.rope(x, cos, sin))
print(k.rope(x, cos, sin, interleaved=True))
""",
    "sample": """\
logits = np.array([1, 3, 2, 0], np.float32)
print([int(k.sample(logits, seed=7, step=step, top_k=2)) for step in range(8)])
""",
    "sgd": """\
params, grads, momenta = (
    [np.ones(2, np.float32)],
    [np.array([0.5, -2], np.float32)],
    [np.zeros(2, np.float32)],
)
k.sgd(params, grads, momenta, 0.1, momentum=0.9)  # a learning rate of 0.1
print(params[0], momenta[0])
""",
    "softmax": """\
x = np.array([[1, 2, 3]], np.float32)
print(k.softmax(x))
print(k.softmax(x, np.array([[True, True, False]])))
""",
    "swiglu": """\
print(k.swiglu(np.array([-1, 0, 2], np.float32), np.ones(3, np.float32)))
""",
    "topk": """\
values, indices = k.topk(np.array([1, 3, 2, 3], np.float32), k=3)
print(values, indices)
""",
    "varlen_attention": """\
# three tokens of one head: a sequence of two and one of one
x = np.arange(6, dtype=np.float32).reshape(3, 1, 2)
ends = np.array([0, 2, 3], np.int32)
print(k.varlen_attention(x, x, x, ends, ends)[:, 0])
""",
}
EXAMPLES |= {name: f"print(k.{name}(np.array([-1, 0, 2], np.float32)))\n" for name in op_formulas.ROW_ACTIVATIONS}
_HEAD = """\
import kernpack
import numpy as np

k = kernpack.load("kernpack_kernels")
"""
_MATRIX = Path(__file__).resolve().parents[1] / "ops-matrix.md"
_WIDTH = 80  # of a line of code on a page
_DERIVED = re.compile(r"_(backward|jvp|zero)$")
_DTYPES = re.compile(r"(\w+) in \{([^}\"]+)\}")


def run_program(program: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "<example>", "exec"), {})
    return printed.getvalue()


def text_and_contract(doc: str) -> tuple[str, str]:
    """A function's docstring ends with its signature; what its author says of it, if anything, comes before."""
    text, _, contract = doc.rpartition("\n\n")
    return text, contract


def in_lines(contract: str) -> str:
    """The contract with its results and its conditions on lines of their own, and its parameters too where they are many."""
    lines = re.sub(r" (?=-> \(|where |with )", "\n    ", contract).split("\n")
    if len(lines[0]) > _WIDTH:
        name, _, parameters = lines[0].partition("(")
        lines[0] = f"{name}(\n        " + re.sub(r", (?=\w+!?:|\*,)", ",\n        ", parameters)
    results = [textwrap.fill(line, _WIDTH, subsequent_indent=" " * 8, break_long_words=False) for line in lines[1:]]
    return "\n".join([lines[0], *results])


def call(contract: str) -> str:
    """The contract as one calls it in Python: probs = k.softmax(x, mask=None)."""
    name, _, rest = contract.partition("(")
    parameters, _, results = rest.partition(") -> (")
    shown = []
    for parameter in re.split(r", (?=\w+!?:|\*,)", parameters):
        found = re.fullmatch(r"(\w+)!?: .*?(?: = (.+))?", parameter, re.DOTALL)
        if found:
            shown.append(found[1] + (f"={found[2]}" if found[2] else ""))
        elif parameter == "*":
            shown.append("*")
    returned = [found for found, aux in re.findall(r"(\w+): [\w()]+\[[^\]]*\]((?: \w+)*)", results) if "aux" not in aux]
    whole = f"{', '.join(returned)} = " * bool(returned) + f"k.{name}({', '.join(shown)})"
    return textwrap.fill(whole, _WIDTH, subsequent_indent="    ", break_long_words=False)


def gradients(name: str, docs: dict[str, str]) -> list[str]:
    """Which parameters have a gradient, and what can be derived again."""
    backward = [other for other in derivatives(name, docs) if other.endswith("_backward")]
    backward = [other for other in backward if not other.endswith("_backward_backward")]
    if not backward:
        return ["None: differentiating a call is an error that names the op.", ""]
    lines = ["| gradient of | function | its own gradient | its tangent |", "|---|---|---|---|"]
    for other in sorted(backward):
        results = text_and_contract(docs[other])[1].partition("-> (")[2]
        parameters = ", ".join(f"`{found}`" for found in re.findall(r"\bd_(\w+):", results))
        again = "yes" if f"{other}_backward" in docs else "no"
        lines.append(f"| {parameters} | `{other}` | {again} | {'yes' if f'{other}_jvp' in docs else 'no'} |")
    lines += [
        "",
        f"Forward mode: {'yes' if f'{name}_jvp' in docs else 'no'}. The frameworks call these functions; you don't need to.",
        "",
    ]
    return lines


def _rows(name: str) -> dict[str, dict[str, str]]:
    """The rows of docs/ops-matrix.md about one op: by table, each cell by its column."""
    found: dict[str, dict[str, str]] = {}
    for table in re.findall(
        r"^\| (\w+) \|(.+)\|\n\|[-|]+\n((?:\|.+\n)+)", _MATRIX.read_text(encoding="utf-8"), re.MULTILINE
    ):
        framework, head, rows = table
        for row in rows.splitlines():
            op, *cells = [cell.strip() for cell in row.strip("|").split("|")]
            if op == f"`{name}`":
                found[framework] = dict(zip([h.strip() for h in head.split("|")], cells, strict=True))
    if set(found) != {"facts", "jax", "torch"}:
        raise SystemExit(
            f"docs/ops-matrix.md: expected a row of {name} in each table: run tests/python/matrix/table.py"
        )
    return found


def frameworks(name: str) -> list[str]:
    """The support in each framework, as one table, and below it the dtypes that the op takes and the targets that it has code for."""
    found = _rows(name)
    facts = found.pop("facts")
    columns = list(dict.fromkeys(column for cells in found.values() for column in cells))
    lines = [f"| framework | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    lines += [f"| {f} | {' | '.join(cells.get(c, '-') for c in columns)} |" for f, cells in sorted(found.items())]
    strided = re.sub(r"^no: (.*)", r"no (\1)", facts["strided"])
    lines += ["", f"- strided arguments: {strided}", f"- instruction sets: {facts['instruction sets']}"]
    return [*lines, "", "[The matrix of all operations](../ops-matrix.md) describes the tests.", ""]


def _family(name: str) -> list[str]:
    """Where the manual says more about the op's family: the catalogue's heading above its line."""
    catalogue = (_MATRIX.parent / "kernels.md").read_text(encoding="utf-8").partition("## Catalogue")[2]
    above = catalogue.partition(f"\n- `{name}`: ")[0]
    found = re.findall(r"^### (.+)$", above, re.MULTILINE)
    return [f"Family: {found[-1].lower()}. [All operations, and more about each family](../kernels.md).", ""]


def page(name: str, docs: dict[str, str], facts: list[str]) -> str:
    text, contract = text_and_contract(docs[name])
    program = _HEAD + EXAMPLES[name]
    derived = derivatives(name, docs)
    lines = [f"# {name}", "", text.replace("*", r"\*"), ""]
    if name in op_formulas.FORMULAS:
        lines += ["```text", op_formulas.FORMULAS[name].rstrip(), "```", ""]
    lines += ["```text", call(contract), "```", "", *_family(name)]
    lines += ["## Contract", "", "```text", in_lines(contract), "```", ""]
    _, _, conditions = contract.rpartition(" where ")
    lines += [f"- `{variable}`: {values}" for variable, values in _DTYPES.findall(conditions)]
    lines += ["", "[The grammar of signatures](../signature.md) explains each part.", "", "## Example", ""]
    lines += [
        "```python",
        program.rstrip(),
        "```",
        "",
        "It prints",
        "",
        "```text",
        run_program(program).rstrip(),
        "```",
        "",
    ]
    lines += ["## Frameworks", "", *frameworks(name)]
    lines += ["## Gradients", "", *gradients(name, docs)]
    lines += ["## dtypes and errors", "", *facts]
    lines += ["## Contracts of the derivatives", ""] if derived else []
    for other in derived:
        lines += [f"**`{other}`**", "", "```text", in_lines(text_and_contract(docs[other])[1]), "```", ""]
    return "\n".join(lines)


def names(docs: dict[str, str]) -> list[str]:
    found = sorted(name for name in docs if not _DERIVED.search(name))
    if found != sorted(EXAMPLES):
        raise SystemExit(f"docs/site/ops.py has examples of {sorted(EXAMPLES)}, but the wheel has the ops {found}")
    if found != sorted(formulas := [*op_formulas.FORMULAS, *op_formulas.NONE]):
        raise SystemExit(f"docs/site/op_formulas.py knows {sorted(formulas)}, but the wheel has the ops {found}")
    return found


def derivatives(name: str, docs: dict[str, str]) -> list[str]:
    """The functions that end as derivatives do, and begin with the name of this op and of no longer one."""
    ops = [op for op in docs if not _DERIVED.search(op)]
    return sorted(
        other
        for other in docs
        if _DERIVED.search(other) and name == max((op for op in ops if other.startswith(f"{op}_")), key=len, default="")
    )


def write(folder: Path) -> list[str]:
    """Writes the pages and returns their names; none where the wheel isn't installed."""
    if not importlib.util.find_spec("kernpack") or not importlib.util.find_spec("kernpack_kernels"):
        return []
    import kernpack
    import op_facts

    module = kernpack.load("kernpack_kernels")
    docs = {name: getattr(module, name).__doc__ for name in module.functions if not name.startswith("_")}
    folder.mkdir(parents=True)
    found = names(docs)
    for name in found:
        (folder / f"{name}.md").write_text(page(name, docs, op_facts.facts(module, name)), encoding="utf-8")
    return found
