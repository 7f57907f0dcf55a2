"""Where the model's operations come from: the hand-written wheel, or ops.py built for a kind of target."""

import subprocess
import sys
import types

import kernpack
import kernpack_compiler
import ops

CPU_KINDS = [kind for kind in ("llvm", "c") if kind in kernpack_compiler.list_generators()]
HAND_WRITTEN = "hand-written"


def with_embedding(generated, hand_written):
    """The generated operations, and the look-up that ops.py leaves to the hand-written wheel."""
    functions = {name: getattr(generated, name) for name in generated.functions if not name.startswith("_")}
    return types.SimpleNamespace(**functions, embedding=hand_written.embedding)


def exported(folder):
    """One wheel with the code for the CPU and, where it can be built, for OpenCL; installed, and loaded by name."""
    kinds = [CPU_KINDS[0], *(["opencl"] if "opencl" in kernpack_compiler.list_generators() else [])]
    modules = [kernpack_compiler.build(ops.MODULE, kind) for kind in kinds]
    wheel = kernpack_compiler.export_wheel(modules, folder, "minilm-ops", "1.0.0")
    print(f"{wheel.name}: {wheel.stat().st_size / 1024:.0f} KB, for {', '.join(kinds)}")
    site = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", site, wheel]
    subprocess.run(list(map(str, pip)), check=True)
    sys.path.insert(0, str(site))
    return kernpack.load("minilm_ops")


def providers(folder):
    """Name to operations; and the module from the wheel."""
    hand_written = kernpack.load("kernpack_kernels")
    wheel = exported(folder)
    here = {kind: kernpack_compiler.Target.from_device("cpu", {"kind": kind}) for kind in CPU_KINDS}
    generated = {f"{kind}, in process": kernpack_compiler.build(ops.MODULE, here[kind]) for kind in CPU_KINDS}
    generated[f"{CPU_KINDS[0]}, from the wheel"] = wheel
    named = {name: with_embedding(module, hand_written) for name, module in generated.items()}
    return {HAND_WRITTEN: hand_written, **named}, wheel
