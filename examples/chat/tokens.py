"""Text to tokens and back, as the GGUF file says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tokenizers
from gguf_file import GgufFile, ModelError
from template import render
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers

UNKNOWN, CONTROL, USER_DEFINED = 2, 3, 4  # tokenizer.ggml.token_type
_BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def _split(pattern: str) -> Any:
    return pre_tokenizers.Split(Regex(pattern), "isolated")


# In these, a word that is a token itself isn't merged of pieces, and texts begin with the first token unless the file says otherwise.
_LLAMA3_NAMES = ("llama-bpe", "llama3", "llama-v3")
# tokenizer.ggml.pre: how text is cut before its pieces are merged.
CUTS = {
    "default": [_split(r"[\p{P}\$\+<=>\^~\|]+"), _split(_GPT2), _split(r"\p{N}+"), _split("[0-9][0-9][0-9]")],
    "gpt-2": [_split(_GPT2)],
    "smollm": [pre_tokenizers.Digits(individual_digits=True), _split(_GPT2)],
    **{name: [_split(_LLAMA3)] for name in _LLAMA3_NAMES},
}
_SPECIAL = ("bos", "eos", "unknown", "padding")  # tokenizer.ggml.*_token_id


class Tokens:
    def __init__(self, file: GgufFile) -> None:
        self._pieces = file.tokens()
        self._ids = {piece: i for i, piece in enumerate(self._pieces)}
        kind = file.field("tokenizer.ggml.model", str)
        if kind == "gpt2":
            self._tokenizer = self._byte_level(file)
        elif kind == "llama":
            self._tokenizer = self._sentence_piece(file)
        else:
            raise ModelError(f"{file.path}: tokenizer.ggml.model: expected gpt2 or llama, got {kind!r}")
        self._mark_whole(file)
        self._path = file.path
        self._template = file.field("tokenizer.chat_template", str, "")
        self._special = {name: self._id(file, name) for name in _SPECIAL}
        self._first = self._read_first(file, kind)
        if not self._template and file.field("tokenizer.ggml.add_eos_token", bool, False):
            raise ModelError(
                f"{file.path}: tokenizer.ggml.add_eos_token: expected false, or a chat template: a text that ends has no answer"
            )
        self.end = {i for i in (self._id(file, name) for name in ("eos", "eot", "eom")) if i is not None}
        self.end |= {self._ids[piece] for piece in ("<|im_end|>", "<|eot_id|>", "</s>") if piece in self._ids}

    def _mark_whole(self, file: GgufFile) -> None:
        """Pieces that a text is cut at before anything else, as llama.cpp does. Those of the user's own are text when decoded."""
        types = file.field("tokenizer.ggml.token_type", list, [1] * len(self._pieces))
        if len(types) != len(self._pieces):
            raise ModelError(
                f"{file.path}: tokenizer.ggml.token_type: expected {len(self._pieces)} types, one for each token, got {len(types)}"
            )
        pairs = [(piece, t) for piece, t in zip(self._pieces, types, strict=True) if piece]
        special = [piece for piece, t in pairs if t in (UNKNOWN, CONTROL)]
        own = [piece for piece, t in pairs if t == USER_DEFINED]
        self._tokenizer.add_special_tokens([AddedToken(piece, normalized=False) for piece in special])
        self._tokenizer.add_tokens([AddedToken(piece, normalized=False) for piece in own])
        if self._tokenizer.get_vocab_size() != len(self._pieces):
            raise ModelError(f"{file.path}: tokenizer.ggml.tokens: some appear twice")

    def _id(self, file: GgufFile, name: str) -> int | None:
        key = f"tokenizer.ggml.{name}_token_id"
        found = file.field(key, int, -1)
        if found in (-1, 0xFFFFFFFF):  # llama.cpp's for none
            return None
        if not 0 <= found < len(self._pieces):
            raise ModelError(f"{file.path}: {key}: expected a number from 0 to {len(self._pieces) - 1}, got {found}")
        return int(found)

    def _read_first(self, file: GgufFile, kind: str) -> list[int]:
        usual = kind == "llama" or file.field("tokenizer.ggml.pre", str, "default") in _LLAMA3_NAMES
        if not file.field("tokenizer.ggml.add_bos_token", bool, usual):
            return []
        if self._special["bos"] is None:
            raise ModelError(f"{file.path}: has no tokenizer.ggml.bos_token_id, but its texts begin with that token")
        return [self._special["bos"]]

    def _byte_level(self, file: GgufFile) -> Any:
        cut = file.field("tokenizer.ggml.pre", str, "default")
        if cut not in CUTS:
            raise ModelError(f"{file.path}: tokenizer.ggml.pre: expected one of {', '.join(CUTS)}, got {cut!r}")
        pairs = [tuple(str(merge).split(" ", 1)) for merge in file.field("tokenizer.ggml.merges", list)]
        tokenizer = self._merging(file, pairs, ignore_merges=cut in _LLAMA3_NAMES)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*CUTS[cut], _BYTE_LEVEL])
        tokenizer.decoder = decoders.ByteLevel()
        return tokenizer

    def _sentence_piece(self, file: GgufFile) -> Any:
        """SentencePiece's own merges: any two pieces whose join is one, that of the best score first."""
        scores = file.field("tokenizer.ggml.scores", list)
        if len(scores) != len(self._pieces):
            raise ModelError(
                f"{file.path}: tokenizer.ggml.scores: expected {len(self._pieces)} scores, one for each token, got {len(scores)}"
            )
        ranked = sorted(zip(self._pieces, scores, strict=True), key=lambda pair: -pair[1])
        pairs = [
            (piece[:i], piece[i:])
            for piece, _ in ranked
            for i in range(1, len(piece))
            if piece[:i] in self._ids and piece[i:] in self._ids
        ]
        tokenizer = self._merging(file, pairs, byte_fallback=True, fuse_unk=True, unk_token=self._pieces[0])
        prefix = [normalizers.Prepend("▁")] if file.field("tokenizer.ggml.add_space_prefix", bool, True) else []
        tokenizer.normalizer = normalizers.Sequence([*prefix, normalizers.Replace(" ", "▁")])
        tokenizer.decoder = decoders.Sequence(
            [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        )
        return tokenizer

    def _merging(self, file: GgufFile, pairs: list[Any], **options: Any) -> Any:
        try:
            return tokenizers.Tokenizer(models.BPE(self._ids, pairs, **options))
        except Exception as error:  # tokenizers raises Exception itself
            raise ModelError(f"{file.path}: tokenizer.ggml.merges: {error}") from None

    def encode(self, text: str) -> list[int]:
        return self._first + self._tokenizer.encode(text, add_special_tokens=False).ids

    def prompt(self, messages: list[dict[str, str]]) -> list[int]:
        """A conversation, by the file's own template, up to where the answer begins."""
        if not self._template:
            return self.encode("\n".join(message["content"] for message in messages))
        names = {"unknown": "unk", "padding": "pad"}
        special = {f"{names.get(n, n)}_token": self._pieces[i] for n, i in self._special.items() if i is not None}
        try:
            text = render(self._template, messages, special)
        except Exception as error:  # what a template computes can fail in any way
            raise ModelError(f"{self._path}: tokenizer.chat_template: {type(error).__name__}: {error}") from None
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids)

    def stream(self, ids: Iterator[int]) -> Iterator[str]:
        """Text as it comes: nothing is given out that a later token could change."""
        seen: list[int] = []
        told = ""
        for token in ids:
            seen.append(token)
            text = self.decode(seen)
            if not text.endswith("�"):
                yield text[len(told) :]
                told = text
        yield self.decode(seen)[len(told) :]
