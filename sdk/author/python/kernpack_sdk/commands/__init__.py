"""The commands of `kernpack` that come with kernpack-sdk (../cli.py): each is the click command `command` of the module of its name (add-op: add_op).
`test` is a program of its own (../testing/command.py), and so is `import`, which kernpack-compiler has. Imports nothing: `kernpack --help` reads the table."""

COMMANDS = {
    "add-op": "Add an op to a project: kernel, contract, gradient, test",
    "bench": "Time functions over shapes, alternating with a reference",
    "build": "Build the wheel, and check that the build is reproducible",
    "check": "Check a wheel or module before publishing it",
    "completions": "Print the completion script of a shell",
    "config": "Print where the SDK is and what to compile with",
    "demo": "Call a small kernel from NumPy, PyTorch and JAX, and time it beside theirs",
    "dev": "Build in place, and again whenever a source is saved",
    "import": "Turn a kernel that Triton, nvcc or another compiler compiled into a function",
    "inspect": "Show what a module, a wheel or an installed package contains",
    "keygen": "Make an Ed25519 key for `kernpack sign`, outside of the project",
    "new": "Start a project: kernel, gradient, tests, packaging, CI",
    "publish": "Check everything, then print the commands that upload",
    "sign": "Sign wheels with an Ed25519 key",
    "slim": "Drop code for other GPUs, and debug sections, from a wheel",
    "split": "Divide a wheel: a base, and a wheel of code for each GPU",
    "stubs": "Write a .pyi file from the signatures in a built module",
    "test": "Test a module by its contracts",
}
