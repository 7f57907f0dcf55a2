"""Text to tokens and back, as the GGUF file says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tokenizers
from gguf_file import GgufFile, ModelError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers

CONTROL = 3  # tokenizer.ggml.token_type
_BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def _split(pattern: str) -> Any:
    return pre_tokenizers.Split(Regex(pattern), "isolated")


# tokenizer.ggml.pre: how text is cut before its pieces are merged.
CUTS = {
    "default": [_split(_GPT2)],
    "gpt-2": [_split(_GPT2)],
    "smollm": [pre_tokenizers.Digits(individual_digits=True), _split(_GPT2)],
    "llama-bpe": [_split(_LLAMA3)],
}


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
        types = file.field("tokenizer.ggml.token_type", list, [])
        control = [piece for piece, t in zip(self._pieces, types, strict=False) if t == CONTROL]
        self._tokenizer.add_special_tokens(control)
        if self._tokenizer.get_vocab_size() != len(self._pieces):
            raise ModelError(f"{file.path}: tokenizer.ggml.tokens: some appear twice")
        self._template = file.field("tokenizer.chat_template", str, "")
        self._first = [file.field("tokenizer.ggml.bos_token_id", int)] if self._wants_first(file, kind) else []
        self.end = {file.field("tokenizer.ggml.eos_token_id", int, -1)}
        self.end |= {self._ids[piece] for piece in ("<|im_end|>", "<|eot_id|>", "</s>") if piece in self._ids}

    @staticmethod
    def _wants_first(file: GgufFile, kind: str) -> bool:
        return file.field("tokenizer.ggml.add_bos_token", bool, kind == "llama")

    def _byte_level(self, file: GgufFile) -> Any:
        cut = file.field("tokenizer.ggml.pre", str, "default")
        if cut not in CUTS:
            raise ModelError(f"{file.path}: tokenizer.ggml.pre: expected one of {', '.join(CUTS)}, got {cut!r}")
        pairs = [tuple(str(merge).split(" ", 1)) for merge in file.field("tokenizer.ggml.merges", list)]
        tokenizer = self._merging(file, pairs)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*CUTS[cut], _BYTE_LEVEL])
        tokenizer.decoder = decoders.ByteLevel()
        return tokenizer

    def _sentence_piece(self, file: GgufFile) -> Any:
        """SentencePiece's own merges: any two pieces whose join is one, that of the best score first."""
        scores = file.field("tokenizer.ggml.scores", list)
        ranked = sorted(zip(self._pieces, scores, strict=False), key=lambda pair: -pair[1])
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
        first = self._pieces[self._first[0]] if self._first else ""
        try:
            template = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(self._template)
            text = template.render(messages=messages, add_generation_prompt=True, bos_token=first, eos_token="")
        except Exception as error:  # what a template computes can fail in any way
            raise ModelError(f"tokenizer.chat_template: {type(error).__name__}: {error}") from None
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
