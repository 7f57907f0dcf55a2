"""examples/chat's tokens and templates: pieces that are matched whole, and what templates find in transformers."""

from __future__ import annotations

import datetime

import pytest
from small_gguf import byte_letters, write

for _package in ("gguf", "tokenizers", "jinja2"):
    pytest.importorskip(_package, reason=f"{_package} is not installed")
pytestmark = pytest.mark.usefixtures("chat_modules")
ASKED = [{"role": "user", "content": "<b>é & ab</b>"}, {"role": "assistant", "content": "x"}]


def encode_tokens(path, **options):
    from gguf_file import GgufFile
    from tokens import Tokens

    return Tokens(GgufFile(write(path / "m.gguf", **options)))


def test_tokens_of_the_user_and_unknown_ones_are_matched_whole(tmp_path):
    """Types 4 and 2, as llama.cpp does. Decoded, the user's are text, as its <think> is."""
    tokens = encode_tokens(
        tmp_path, tokens={258: ("<think>", 4), 259: ("<unk>", 2), 260: ("<th", 1), 261: ("<think>>", 4)}
    )
    letters = byte_letters()
    assert tokens.encode("ab<think>ab") == [256, 258, 256]
    assert tokens.encode("<think>>") == [261]
    assert tokens.encode("a<unk><think") == [letters.index("a"), 259, *(letters.index(x) for x in "<think")]
    assert tokens.decode([258, 256]) == "<think>ab"
    assert tokens.decode([257, 256, 259]) == "ab"


def test_tokens_of_the_user_are_matched_before_spaces_are_replaced(tmp_path):
    """In SentencePiece's models, whose pieces have a sign for spaces."""
    pieces = ["<unk>", "<s>", "</s>", "▁", "a", "▁a", "<x y>", "  "]
    path = write_pieces(tmp_path / "m.gguf", pieces, [2, 3, 3, 1, 1, 1, 4, 4], scores=[0.0] * len(pieces))
    from gguf_file import GgufFile
    from tokens import Tokens

    tokens = Tokens(GgufFile(path))
    assert tokens.encode("a<x y>a") == [1, 5, 6, 5]
    assert tokens.encode("a  a") == [1, 5, 7, 5]
    assert tokens.decode([5, 6]) == "a<x y>"


def write_pieces(path, pieces, types, **fields):
    import gguf

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama")
    writer.add_token_list(pieces)
    writer.add_token_types(types)
    writer.add_token_scores(fields.get("scores", [0.0] * len(pieces)))
    writer.add_bos_token_id(1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize(
    ("types", "scores", "message"), [(2, 3, "token_type: expected 3"), (3, 4, "scores: expected 3")]
)
def test_lists_of_another_length_are_refused(tmp_path, types, scores, message):
    from gguf_file import GgufFile, ModelError
    from tokens import Tokens

    path = write_pieces(tmp_path / "m.gguf", ["<unk>", "<s>", "a"], [1] * types, scores=[0.0] * scores)
    with pytest.raises(ModelError, match=f"{path}: tokenizer.ggml.{message}"):
        Tokens(GgufFile(path))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tokenizer.ggml.bos_token_id": 262}, "bos_token_id: expected a number from 0 to 261, got 262"),
        ({"tokenizer.ggml.add_bos_token": True}, "has no tokenizer.ggml.bos_token_id"),
        ({"tokenizer.ggml.add_eos_token": True}, "add_eos_token: expected false, or a chat template"),
    ],
)
def test_what_a_tokenizer_lacks_is_named(tmp_path, fields, message):
    from gguf_file import ModelError

    with pytest.raises(ModelError, match=message):
        encode_tokens(tmp_path, fields=fields)


def test_an_answer_ends_at_each_of_the_tokens_that_end_one(tmp_path):
    fields = {f"tokenizer.ggml.{name}_token_id": 257 + i for i, name in enumerate(("eos", "eot", "eom"))}
    assert encode_tokens(tmp_path, fields=fields).end == {257, 258, 259}


@pytest.mark.parametrize(
    ("cut", "text", "pieces"),
    [
        ("default", "a1234,=b", ["a", "123", "4", ",=", "b"]),
        ("gpt-2", "a1234,=b", ["a", "1234", ",=", "b"]),
        ("smollm", "a12", ["a", "1", "2"]),
        ("llama-bpe", "1234 ab", ["123", "4", "Ġab"]),
        ("llama3", "1234", ["123", "4"]),
    ],
)
def test_texts_are_cut_as_llama_cpp_cuts_them(chat_modules, cut, text, pieces):
    from tokenizers import pre_tokenizers
    from tokens import _BYTE_LEVEL, CUTS

    found = pre_tokenizers.Sequence([*CUTS[cut], _BYTE_LEVEL]).pre_tokenize_str(text)
    assert [piece for piece, _ in found] == pieces


TEMPLATES = [
    "{{ messages | tojson }}",
    "{{ messages[0] | tojson(indent=2, ensure_ascii=True) }}",
    "{{ {'b': 1, 'a': messages[0].content} | tojson(sort_keys=True, separators=(',', ':')) }}",
    "{% if messages[0].role != 'user' %}{{ raise_exception('no') }}{% endif %}{{ bos_token }}{{ messages[1].content + eos_token }}",
    "{% for m in messages %}{% if loop.index > 1 %}{% break %}{% endif %}{{ m.content }}{% endfor %}",
    "{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}{{ m.content }}{% endfor %}",
    "{% for m in messages %}{% generation %}{{ m.content }}{% set x = 1 %}{% endgeneration %}{{ x }}{% endfor %}",
    "{% if tools is not none %}a{% endif %}{% if documents is none %}b{% endif %}{{ unk_token }}{{ add_generation_prompt }}",
    "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}\n  {% if true %}\nx{% endif %}",
]


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_gives_the_text_that_transformers_gives(chat_modules, template):
    utils = pytest.importorskip(
        "transformers.utils.chat_template_utils", reason="transformers is not installed, or has no such module"
    )
    from template import render

    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    expected, _ = utils.render_jinja_template([ASKED], chat_template=template, add_generation_prompt=True, **special)
    assert render(template, ASKED, special) == expected[0]


def test_a_template_knows_the_time(chat_modules):
    from template import render

    assert render("{{ strftime_now('%Y-%m') }}", ASKED, {}) == datetime.datetime.now().strftime("%Y-%m")


def test_what_a_template_raises_is_told(tmp_path):
    from gguf_file import ModelError

    tokens = encode_tokens(tmp_path, template="{{ raise_exception('roles must alternate') }}")
    with pytest.raises(ModelError, match=r"m.gguf: tokenizer.chat_template: TemplateError: roles must alternate"):
        tokens.prompt(ASKED)


def test_a_template_has_the_files_special_tokens(tmp_path):
    """Also where plain texts don't begin with one."""
    fields = {"tokenizer.ggml.bos_token_id": 257, "tokenizer.ggml.eos_token_id": 258}
    tokens = encode_tokens(tmp_path, template="{{ bos_token }}ab{{ eos_token }}", fields=fields)
    assert tokens.encode("ab") == [256]
    assert tokens.prompt(ASKED) == [257, 256, 258]
