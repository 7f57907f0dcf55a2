"""Words that people type into the search, and the page that they mean: stage.py makes index entries of the words, which the search shows
first, and browser.py tries each word. The name of an op leads to its page."""

from __future__ import annotations

ANSWERS = {
    "index": ["install", "installation", "pip install", "getting started", "quickstart", "hello world"],
    "gallery": ["example", "examples"],
    "python": ["numpy", "load", "load_inline", "threads"],
    "torch": ["pytorch", "torch", "gradient", "gradients", "autograd", "torch.compile", "backward"],
    "jax": ["jax", "jit", "vmap", "grad", "sharding"],
    "kernels": ["operations", "ops", "kernel wheel", "kernpack-kernels"],
    "benchmarks": ["how fast", "fast", "performance", "speed", "benchmark", "overhead", "slow"],
    "gpu": ["cuda", "gpu", "nvidia", "h100"],
    "emulator": ["emulator", "emulate", "without a gpu"],
    "versions": ["supported versions", "windows", "macos", "python version", "requirements"],
    "faq": ["pybind11", "tvm", "alpine", "pyinstaller"],
    "gotchas": ["gotchas", "pitfalls", "surprises"],
    "tutorial": ["tutorial", "first kernel", "write a kernel"],
    "signature": ["contract", "signature", "dtype", "dtypes"],
    "kernel": ["kp_export", "tensorview", "strided", "kp_check"],
    "packaging": ["wheel", "publish", "pypi", "cmake"],
    "testing": ["test", "kernpack test"],
    "debugging": ["debug", "crash", "segfault", "kernpack_check", "environment variables"],
    "mistakes": ["error", "compile error"],
    "profiling": ["profile", "profiler"],
    "chat": ["llm", "language model", "llama"],
    "codegen": ["compiler", "code generation"],
    "glossary": ["glossary", "terms"],
}


def entries(words: list[str]) -> str:
    """A page's index entries, as MyST reads them. The search shows main entries (!) above all else."""
    return "\n".join(["```{eval-rst}", ".. index::", *(f"   ! single: {word}" for word in words), "```", ""])


def by_page(ops: list[str]) -> dict[str, list[str]]:
    """The words of each page, the ops' pages included."""
    taken = {word for words in ANSWERS.values() for word in words}
    return ANSWERS | {f"ops/{op}": [op] for op in ops if op not in taken}


def first_pages(ops: list[str]) -> dict[str, str]:
    """By word, the page that has to be the first result."""
    return {word: page for page, words in by_page(ops).items() for word in words}
