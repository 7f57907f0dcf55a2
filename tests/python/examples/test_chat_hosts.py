"""examples/chat in PyTorch, JAX, C and Hugging Face's transformers: the tokens of the NumPy host."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_gguf import SIZES, biases, write

for _package in ("tokenizers", "jinja2", "tqdm"):
    pytest.importorskip(_package, reason=f"{_package} is not installed")

CHAT = Path(__file__).resolve().parents[3] / "examples" / "chat"
NEEDS = {"torch": "torch", "torch-compile": "torch", "jax": "jax", "hf": "transformers"}
PROMPTS, LENGTH = 4, 16
pytestmark = pytest.mark.usefixtures("chat_modules")


def make(host, k, path):
    from gguf_file import GgufFile
    from hosts import make

    if host in NEEDS:
        pytest.importorskip(NEEDS[host], reason=f"{NEEDS[host]} is not installed")
    return make(host, k, GgufFile(path))


def make_prompts(path):
    import check
    from gguf_file import GgufFile
    from tokens import Tokens

    tokens = Tokens(GgufFile(path))
    return [tokens.prompt([{"role": "user", "content": text}]) for text in check.PROMPTS[:PROMPTS]]


@functools.cache
def answers_of_numpy(path):
    """Each prompt, and the NumPy host's answer to it: computed once for all hosts."""
    import check
    import kernpack

    host = make("numpy", kernpack.load("kernpack_kernels"), path)
    return [(prompt, check.greedy(host, prompt, LENGTH)[0]) for prompt in make_prompts(path)]


def agreement(host, answers):
    """At how many of the positions of these answers the likeliest token is the same, the host reading the answer."""
    same = []
    for prompt, expected in answers:
        if hasattr(host, "answer"):
            found = host.answer(prompt, LENGTH)[0]
        else:
            cache = host.cache(len(prompt) + LENGTH)
            logits = [host.forward(prompt, cache)]
            logits += [host.forward([token], cache) for token in expected[:-1]]
            found = [int(np.argmax(row)) for row in logits]
        same.extend(x == y for x, y in zip(found, expected, strict=True))
    assert len(same) == PROMPTS * LENGTH
    return sum(same)


@pytest.mark.parametrize("host", ["torch", "torch-compile", "jax", "c", "hf"])
def test_tokens_are_those_of_the_numpy_host(k, shipped, host):
    found = agreement(make(host, k, shipped), answers_of_numpy(shipped))
    assert found >= PROMPTS * LENGTH - 1  # 99 % of many more positions, by `make chat-check HOST=...`


@pytest.mark.parametrize("host", ["torch", "torch-compile", "jax", "c", "hf"])
@pytest.mark.parametrize(
    "file",
    [
        {"form": "Q4_1"},
        {"form": "Q8_0", "head": True},
        {"form": "Q4_K", "forms": {"attn_v": "Q6_K", "ffn_down": "Q6_K"}},
        {"form": "Q4_0", "forms": {"ffn_up": "Q8_0"}},
        {
            "form": "BF16",
            "forms": {"attn_v": "F16", "ffn_up": "F32"},
            "tensors": biases("attn_q", "attn_k", "attn_output", "ffn_up", "ffn_down"),
            "fields": {"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 2.0},
        },
    ],
    ids=["one format", "a head of its own", "K formats", "formats beside each other", "numbers, biases, linear rope"],
)
def test_logits_of_a_small_model(k, tmp_path, host, file):
    path = write(tmp_path / "m.gguf", **file)
    model, other = make(host, k, path), make("numpy", k, path)
    tokens = np.random.default_rng(1).integers(0, SIZES["pieces"], 9).tolist()
    cache = other.cache(12)
    expected = [other.forward(tokens, cache)[0]]
    for _ in range(3):
        expected.append(other.forward([int(np.argmax(expected[-1]))], cache)[0])
    if hasattr(model, "answer"):
        found = model.answer(tokens, 4)[1]
    else:
        cache = model.cache(12)
        found = [model.forward(tokens, cache)[0]]
        for logits in expected[:-1]:
            found.append(model.forward([int(np.argmax(logits))], cache)[0])
    room = (0.03 if host == "hf" else 1e-5) * np.abs(expected).max()  # hf multiplies in f32, others round activations
    assert np.abs(np.stack(found) - np.stack(expected)).max() < room


@pytest.mark.parametrize("host", ["numpy", "torch", "jax", "hf"])
def test_a_prompt_is_read_from_where_it_is_new(k, tmp_path, host):
    from memory import Memory

    model = make(host, k, write(tmp_path / "m.gguf"))
    memory, tokens = Memory(model, room=24), np.random.default_rng(2).integers(0, SIZES["pieces"], 42).tolist()

    def compute_logits(prompt, known):
        new = memory.recall(prompt, 4)
        assert new == prompt[known:]
        found = memory.forward(new)
        assert len(memory) == len(prompt)
        expected = model.forward(prompt, model.cache(len(prompt)))
        np.testing.assert_allclose(found, expected, rtol=0, atol=0.03 * np.abs(expected).max())

    compute_logits(tokens[:9], 0)
    memory.forward([tokens[9]])  # as an answer does
    compute_logits(tokens[:13], 10)
    compute_logits([*tokens[:5], 7, 8, 9], 5)  # another conversation that begins alike
    compute_logits([*tokens[:5], 7, 8, 9], 7)  # the same again: the last token is read for its logits
    compute_logits(tokens[:40], 0)  # more than there is room for: all of it is read again
    compute_logits(tokens[:42], 40)


def test_a_prompt_compiles_to_one_graph_too(k, tmp_path):
    """The compiled host handles chunks of any length like single tokens."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    model = make("torch", k, write(tmp_path / "m.gguf"))
    whole = torch.compile(model.module, fullgraph=True, dynamic=True)
    for length in (5, 9):
        ids, at = torch.arange(length, dtype=torch.int32), torch.arange(length)
        ours, theirs = model.cache(16), model.cache(16)
        with torch.inference_mode():
            found = whole(ids, at, ours.cos, ours.sin, ours.layers, True)
            expected = model.module(ids, at, theirs.cos, theirs.sin, theirs.layers, True)
        assert torch.allclose(found, expected, atol=1e-5)
        assert torch.equal(ours.layers[1][0], theirs.layers[1][0])


def test_jax_writes_the_cache_in_place_and_scans(k, tmp_path):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    model = make("jax", k, write(tmp_path / "m.gguf"))
    cache = model.cache(16)
    model.forward([1, 2, 3], cache)
    before = jax.tree.leaves(cache.layers)
    places = [array.unsafe_buffer_pointer() for array in before]
    model.forward([4], cache)
    assert all(array.is_deleted() for array in before)
    assert [array.unsafe_buffer_pointer() for array in jax.tree.leaves(cache.layers)] == places
    numpy_host = make("numpy", k, tmp_path / "m.gguf")
    import check

    assert model.greedy([1, 2, 3], 8) == check.greedy(numpy_host, [1, 2, 3], 8)[0]


def ask(*options):
    command = [sys.executable, CHAT / "main.py", "What is two plus two?", "--tokens", "8", "--threads", "1", *options]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


def test_one_question_to_the_c_program(shipped):
    done = ask("--host", "c")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ask("--host", "numpy").stdout
    refused = ask("--host", "c", "--temperature", "1")
    assert refused.returncode == 1
    assert "the host c takes the likeliest token only" in refused.stderr


@pytest.mark.parametrize("host", ["numpy", "c"])
def test_another_architecture_is_refused_by_name(tmp_path, host):
    done = ask("--host", host, "--model", write(tmp_path / "m.gguf", architecture="qwen2"))
    assert done.returncode == 1
    assert "'llama', got 'qwen2'" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_host_is_refused_before_anything_is_built():
    script = CHAT.parents[1] / "scripts" / "chat"
    done = subprocess.run([script, "--host", "numpyy"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--host: expected numpy, torch, torch-compile, jax, c or hf, got numpyy" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "usage: "),
        (("0", "1"), "COUNT: expected how many tokens to write"),
        (("4", "x"), "expected a number from 0 to 261, got x"),
        (("4", "262"), "expected a number from 0 to 261, got 262"),
        (("4", *["1"] * 64), "a prompt of 64 tokens: the model has room for 1 to 63"),
        (("4", "--logits", "/none/here", "1"), "/none/here: can't be written"),
    ],
)
def test_what_the_program_refuses(program, tmp_path, arguments, message):
    done = program(write(tmp_path / "m.gguf"), *arguments)
    assert done.returncode in (1, 2)
    assert message in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"leave_out": ("blk.1.attn_k",)}, "has no tensor blk.1.attn_k.weight"),
        ({"form": "Q5_0"}, "of Q4_0, Q4_1 and Q8_0 in whole blocks of 32 columns, and of Q4_K and Q6_K"),
        ({"change": lambda n, v: 3 if n == "attention.head_count_kv" else v}, "sizes that don't fit: 4 heads over 3"),
        (
            {"change": lambda n, v: (96, 32) if n == "blk.0.ffn_up" else v},
            "blk.0.ffn_up.weight: expected the shape [96, 64], got [96, 32]",
        ),
    ],
)
def test_files_that_the_program_refuses(program, tmp_path, options, message):
    done = program(write(tmp_path / "m.gguf", **options), "2", "1")
    assert done.returncode == 1
    assert message in done.stderr
