"""Several answers at once in examples/chat: the tokens that they have one by one, and the bits that they have alone."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from small_gguf import SIZES, biases, write
from stranger import ROOT

for _package in ("gguf", "tokenizers", "jinja2", "tqdm"):
    pytest.importorskip(_package, reason=f"{_package} is not installed")
pytestmark = pytest.mark.usefixtures("chat_modules")
CHECK = ROOT / "examples/chat/check_batch.py"
LENGTHS = (1, 2, 5, 7, 16, 17, 33, 50)


@pytest.fixture
def model(k, tmp_path):
    from gguf_file import GgufFile
    from model import Model

    return Model(k, GgufFile(write(tmp_path / "m.gguf", form="Q4_1")))


@pytest.fixture
def small_pages(monkeypatch, chat_modules):
    import pages

    monkeypatch.setattr(pages, "PAGE", 8)


def prompts():
    rng = np.random.default_rng(0)
    return [rng.integers(0, SIZES["pieces"], length).tolist() for length in LENGTHS]


@pytest.mark.usefixtures("small_pages")
def test_answers_are_those_of_one_by_one_and_their_bits_those_of_each_alone(model):
    import check
    from batch import answers

    found = answers(model, prompts(), 12)
    for prompt, (tokens, logits) in zip(prompts(), found, strict=True):
        expected_tokens, expected = check.greedy(model, prompt, 12)
        assert tokens == expected_tokens
        np.testing.assert_allclose(logits, expected, rtol=0, atol=1e-3 * np.abs(expected).max())
        np.testing.assert_array_equal(logits, answers(model, [prompt], 12)[0][1])


@pytest.mark.usefixtures("small_pages")
def test_answers_have_their_bits_also_where_weights_have_no_blocks(k, tmp_path):
    """packed_linear rounds nothing of these, whatever is asked of it for integers."""
    import check
    from batch import answers
    from gguf_file import GgufFile
    from model import Model

    options = {"form": "F16", "tensors": biases("attn_q", "attn_v", "ffn_down")}
    model = Model(k, GgufFile(write(tmp_path / "m.gguf", **options)))
    for prompt, (tokens, logits) in zip(prompts(), answers(model, prompts(), 6), strict=True):
        assert tokens == check.greedy(model, prompt, 6)[0]
        np.testing.assert_array_equal(logits, answers(model, [prompt], 6)[0][1])


@pytest.mark.usefixtures("small_pages")
def test_an_answer_that_ends_leaves_the_others_as_they_are(model):
    from batch import answers

    whole = answers(model, prompts(), 12)
    end = {whole[3][0][4], whole[6][0][2]}
    for (tokens, logits), (longer, expected) in zip(answers(model, prompts(), 12, end), whole, strict=True):
        ends = [i + 1 for i, token in enumerate(longer) if token in end] + [12]
        assert tokens == longer[: ends[0]]
        np.testing.assert_array_equal(logits, expected[: ends[0]])


@pytest.mark.usefixtures("small_pages")
def test_pages_are_given_back_and_taken_again(model):
    pages = model.pages([20, 12])
    assert len(pages.free) == 5
    model.forward(range(20), pages.of([0]))
    expected = model.forward(range(12), pages.of([1]))
    assert not pages.free
    for answer, left in ((0, 3), (1, 5)):
        pages.give_back(answer)
        assert len(pages.free) == left
    pages.free.reverse()
    np.testing.assert_array_equal(model.forward(range(12), pages.of([1])), expected)
    assert len(set(pages.free) | set(pages.table[1, :2].tolist())) == 5


@pytest.mark.parametrize("length", [0, 53])
def test_a_prompt_without_room_for_its_answer_is_refused(model, length):
    from batch import answers
    from gguf_file import ModelError

    with pytest.raises(
        ModelError, match=rf"a prompt of {length} tokens: there is room for 1 to 52 before an answer of 12"
    ):
        answers(model, [[1], [1] * length], 12)


def test_the_check(tmp_path):
    """Of the shipped model, with a prompt of 2,048 tokens: by make chat-check."""
    command = [sys.executable, CHECK, "8", "--model", write(tmp_path / "m.gguf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 prompts of 27 to 56 tokens, 8 tokens each: 64 of 64 tokens as one by one" in done.stdout
    assert "the logits have the bits of each prompt alone" in done.stdout
    assert "after 56 tokens: the likeliest token agrees" in done.stdout


def test_a_file_that_is_not_a_model_is_named(tmp_path):
    (tmp_path / "text").write_text("hello")
    command = [sys.executable, CHECK, "--model", tmp_path / "text"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"check_batch: {tmp_path / 'text'}: not a GGUF file")
