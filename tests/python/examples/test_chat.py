"""examples/chat: the tokens of SmolLM2-135M-Instruct beside its float64 reference, and files that are not what they should be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_gguf import SIZES, biases, write

gguf = pytest.importorskip("gguf", reason="gguf is not installed")
for _package in ("tokenizers", "jinja2", "tqdm"):
    pytest.importorskip(_package, reason=f"{_package} is not installed")

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "chat"
PROMPTS = 4
LENGTH = 16


pytestmark = pytest.mark.usefixtures("chat_modules")


def test_greedy_tokens_are_the_references(k, shipped):
    import check
    from gguf_file import GgufFile
    from model import Model
    from reference import Reference
    from tokens import Tokens

    file = GgufFile(shipped)
    tokens = Tokens(file)
    prompts = [tokens.prompt([{"role": "user", "content": prompt}]) for prompt in check.PROMPTS[:PROMPTS]]
    agree, divergence = check.compare(Model(k, file), Reference(file), prompts, LENGTH)
    assert agree.size == PROMPTS * LENGTH
    assert agree.sum() >= agree.size - 1  # 99 % of many more positions, by `make chat-check`
    assert divergence.mean() < 5e-4


def test_text_survives_its_tokens(shipped):
    from gguf_file import GgufFile
    from tokens import Tokens

    tokens = Tokens(GgufFile(shipped))
    for text in ("Hello, world! It's 2026.", "naïve café, 日本語 🙂\n\ttabs", "  spaces  ", ""):
        ids = tokens.encode(text)
        assert tokens.decode(ids) == text
        assert "".join(tokens.stream(iter(ids))) == text
    assert tokens.prompt([{"role": "user", "content": "Hi"}])[-4:] == [1, *tokens.encode("assistant\n")]


def test_one_question(shipped):
    done = subprocess.run(
        [sys.executable, FOLDER / "main.py", "What is two plus two?", "--tokens", "8", "--threads", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert "8 written, " in done.stderr


@pytest.mark.parametrize(("form", "head"), [("Q4_0", False), ("Q4_1", True), ("Q8_0", True), ("Q5_0", True)])
def test_every_format_is_computed_with(k, tmp_path, form, head):
    from gguf_file import GgufFile
    from model import Model
    from reference import Reference

    file = GgufFile(write(tmp_path / "m.gguf", form=form, head=head))
    model = Model(k, file)
    assert model.requantised == ([form] if form == "Q5_0" else [])
    tokens = np.random.default_rng(1).integers(0, SIZES["pieces"], 20).tolist()
    found = model.forward(tokens, model.cache(20), every=True)
    expected = Reference(file).logits([tokens])[0]
    room = (0.1 if model.requantised else 0.03) * np.abs(expected).max()
    assert np.abs(found - expected).max() < room
    cache = model.cache(20)
    model.forward(tokens[:7], cache)
    for token in tokens[7:]:
        last = model.forward([token], cache)
    assert np.abs(last[0] - expected[-1]).max() < room


@pytest.mark.parametrize(("form", "head"), [("F32", False), ("F16", True), ("BF16", False)])
def test_numbers_without_blocks_keep_their_values(k, tmp_path, form, head):
    """The remaining difference is the rounding of keys and values to f16. Rounded to Q8_0, the logits were 2e-2 off."""
    from gguf_file import GgufFile
    from model import Model
    from reference import Reference

    file = GgufFile(write(tmp_path / "m.gguf", form=form, head=head))
    model = Model(k, file)
    assert model.requantised == []
    tokens = np.random.default_rng(1).integers(0, SIZES["pieces"], 20).tolist()
    expected = Reference(file).logits([tokens])[0]
    for compute in ("auto", "i16"):  # i16: several answers at once
        found = model.forward(tokens, model.cache(20), every=True, compute=compute)
        assert np.linalg.norm(found - expected) < 1e-3 * np.linalg.norm(expected)


LINEAR = "llama.rope.scaling.type"
FACTOR = "llama.rope.scaling.factor"


@pytest.mark.parametrize(
    "options",
    [
        {"tensors": biases("attn_q", "attn_k", "attn_v")},
        {"tensors": biases("attn_output", "ffn_down")},
        {"tensors": biases("ffn_gate", "ffn_up"), "forms": {"ffn_up": "F32"}},
        {"tensors": biases("attn_k", layers=(1,))},
        {"fields": {LINEAR: "linear", FACTOR: 4.0}},
        {"fields": {FACTOR: 4.0}},
        {"fields": {"llama.rope.scale_linear": 4.0}},
        {"fields": {FACTOR: 4.0}, "tensors": {"rope_freqs.weight": np.linspace(1, 8, 8, dtype=np.float32)}},
    ],
    ids=lambda options: " ".join(f"{name}" for part in options.values() for name in part),
)
def test_what_a_file_adds_is_computed_with(k, tmp_path, options):
    """As near to the float64 reference as without it, which would be far away."""
    from gguf_file import GgufFile
    from model import Model
    from reference import Reference

    file, plain = (GgufFile(write(tmp_path / f"{i}.gguf", **{"form": "F32", **o})) for i, o in enumerate((options, {})))
    model, tokens = Model(k, file), np.random.default_rng(1).integers(0, SIZES["pieces"], 20).tolist()
    expected, without = Reference(file).logits([tokens])[0], Reference(plain).logits([tokens])[0]
    found = model.forward(tokens, model.cache(20), every=True)
    assert np.linalg.norm(found - expected) < 1e-3 * np.linalg.norm(expected)
    assert np.linalg.norm(without - expected) > 1e-2 * np.linalg.norm(expected)


def test_the_reference_scales_rope_and_adds_biases(tmp_path):
    """A factor of 1, and biases of 0, change nothing; a factor of 2 moves a token as far as half as many tokens do."""
    from gguf_file import GgufFile
    from packed import rope_frequencies
    from reference import Reference

    zeros = {name: 0 * values for name, values in biases("attn_q", "ffn_down").items()}
    plain, same, twice = (
        GgufFile(write(tmp_path / f"{i}.gguf", form="F32", **options))
        for i, options in enumerate(({}, {"tensors": zeros, "fields": {FACTOR: 1.0}}, {"fields": {FACTOR: 2.0}}))
    )
    np.testing.assert_array_equal(Reference(same).logits([[1, 2, 3]])[0], Reference(plain).logits([[1, 2, 3]])[0])
    np.testing.assert_allclose(2 * rope_frequencies(twice.sizes(), twice), rope_frequencies(plain.sizes(), plain))


@pytest.mark.parametrize(
    ("form", "forms"),
    [("Q4_1", {"attn_v": "Q8_0"}), ("Q4_K", {"attn_v": "Q6_K", "ffn_down": "Q6_K", "ffn_up": "Q6_K"})],
)
def test_matrices_beside_each_other_keep_their_formats(k, tmp_path, form, forms):
    """As in files that llama.cpp quantised to Q4_K_M."""
    from gguf_file import GgufFile
    from model import Model
    from reference import Reference

    file = GgufFile(write(tmp_path / "m.gguf", form=form, forms=forms))
    model = Model(k, file)
    assert model.requantised == []
    tokens = np.random.default_rng(1).integers(0, SIZES["pieces"], 20).tolist()
    found = model.forward(tokens, model.cache(20), every=True)
    expected = Reference(file).logits([tokens])[0]
    assert np.abs(found - expected).max() < 0.03 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"architecture": "qwen2"}, "expected a model of the architecture 'llama', got 'qwen2'"),
        ({"leave_out": ("blk.1.attn_k",)}, "has no tensor blk.1.attn_k.weight"),
        ({"change": lambda n, v: 0 if n == "block_count" else v}, "expected a number from 1 to 4096, got 0"),
        ({"change": lambda n, v: 3 if n == "attention.head_count_kv" else v}, "sizes that don't fit: 4 heads over 3"),
        (
            {"change": lambda n, v: (96, 32) if n == "blk.0.ffn_up" else v},
            r"blk.0.ffn_up.weight: expected the shape \[96, 64\], got \[96, 32\]",
        ),
    ],
)
def test_what_does_not_fit_is_named(k, tmp_path, options, message):
    from gguf_file import GgufFile, ModelError
    from model import Model

    with pytest.raises(ModelError, match=message):
        Model(k, GgufFile(write(tmp_path / "m.gguf", **options)))


def test_no_file_and_another_kind_of_file(tmp_path):
    from gguf_file import GgufFile, ModelError

    with pytest.raises(ModelError, match="No such file or directory"):
        GgufFile(tmp_path / "none.gguf")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ModelError, match="not a GGUF file: it begins with b'hell'"):
        GgufFile(tmp_path / "text")
