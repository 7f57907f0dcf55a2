"""A written parameter is a kp::MutTensorView, and an input is a kp::TensorView: the other way round doesn't compile."""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
COMPILERS = [name for name in ("g++", "clang++-19") if shutil.which(name)]

IN, OUT = "kp::TensorView", "kp::MutTensorView"
WRITTEN = (
    "KP_EXPORT: {} is written (marked ! in the signature, a result or the workspace): "
    "make its kp::TensorView a kp::MutTensorView"
)
READ = (
    "KP_EXPORT: {} is a read-only input in the signature: make its kp::MutTensorView a kp::TensorView, "
    "or mark it written: `name!: ...`"
)

# The signature, the types that fit it.
FITTING = [
    ("(x: f32[N]) -> (out: f32[N])", [IN, OUT]),
    ("(cache!: f32[N], x: f32[N]) -> ()", [OUT, IN]),
    ("(x: f32[N]) -> (out: f32[N]) with workspace = N * 4", [IN, OUT, OUT]),
    ("(x: f32[N]? = None, y!: f32[M]? = None) -> ()", [f"std::optional<{IN}>", f"std::optional<{OUT}>"]),
    ("(xs: list[f32[_]], n: int) -> (out: f32[n])", [f"kp::ListView<{IN}>", "int64_t", OUT]),
]
SEVENTEEN = ", ".join(f"x{i}: f32[N]" for i in range(17))
# The signature, types, the number and name of the one that does not fit, what is said of it.
UNFITTING = [
    ("(x: f32[N]) -> (out: f32[N])", [IN, IN], 2, "out", WRITTEN),
    ("(x: f32[N]) -> (out: f32[N])", [OUT, OUT], 1, "x", READ),
    ("(cache!: f32[N], x: f32[N]) -> ()", [IN, IN], 1, "cache", WRITTEN),
    ("(cache!: f32[N], key: f32[N]) -> ()", [OUT, OUT], 2, "key", READ),
    ("(x: f32[N]) -> (out: f32[N]) with workspace = N * 4", [IN, OUT, IN], 3, "workspace", WRITTEN),
    ("(x: f32[N], y!: f32[M]? = None) -> ()", [IN, f"std::optional<{IN}>"], 2, "y", WRITTEN),
    ("(b: int, c: int, z: f32[M]? = None) -> ()", ["int", "int", f"std::optional<{OUT}>"], 3, "z", READ),
    ("(a: int, b: int, c: int, xs: list[f32[_]]) -> ()", ["int"] * 3 + [f"kp::ListView<{OUT}>"], 4, "xs", READ),
    (f"({SEVENTEEN}) -> (last: f32[N])", [IN] * 18, 18, "last", WRITTEN),
]


def compiled(lines: list[str], compiler: str = "g++") -> subprocess.CompletedProcess[str]:
    head = '#include <kernpack/kernel.h>\nnamespace kp = kernpack;\nKP_MODULE("marks", "1.0.0");\n#line 1 "marks.cc"\n'
    all_errors = [] if compiler == "g++" else ["-ferror-limit=0"]
    return subprocess.run(
        [compiler, "-std=c++17", "-fsyntax-only", *all_errors, "-I", str(ROOT / "ffi/include"), "-x", "c++", "-"],
        input=head + "\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def exported(i: int, signature: str, types: list[str]) -> str:
    return f'static void Fn{i}({", ".join(types)}) {{}} KP_EXPORT(fn{i}, Fn{i}, "{signature}");'


def test_types_that_fit_their_marks_compile() -> None:
    done = compiled([exported(i, *row) for i, row in enumerate(FITTING)])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_type_against_its_mark_is_refused(compiler: str) -> None:
    done = compiled([exported(i, signature, types) for i, (signature, types, *_) in enumerate(UNFITTING)], compiler)
    assert done.returncode != 0
    for line, (_, _, number, name, text) in enumerate(UNFITTING, start=1):
        which = f"C++ parameter {number}" if number <= 16 else "this C++ parameter"
        assert text.format(which) in done.stderr
        letters = ", ".join(f"'{letter}'" for letter in name)
        written = "true" if text == WRITTEN else "false"
        assert re.search(rf"MarkFits<{number}, {written}, [\w:]*Named<{letters}>", done.stderr), (number, name)
        assert f"marks.cc:{line}:" in done.stderr
    if compiler == "g++":
        assert all(
            f"KP_EXPORT: Fn{i} does not fit the signature of fn{i}" in done.stderr for i in range(len(UNFITTING))
        )


def test_nothing_is_written_through_an_input() -> None:
    lines = [
        "void a(kp::TensorView x) { *x.data_ptr<float>() = 1; }",
        "void b(kp::TensorView x) { float* p = x.data_ptr<float>(); (void)p; }",
        "void c(kp::TensorView x) { void* p = x.data_ptr(); (void)p; }",
        "void d(kp::TensorView x) { x.at<float>(0, 1) = 1; }",
        "void to(kp::MutTensorView); void e(kp::TensorView x) { to(x); }",
        "void f(std::optional<kp::TensorView> x) { std::optional<kp::MutTensorView> y = x; (void)y; }",
        "void g(kp::ListView<kp::TensorView> xs) { *xs[0].data_ptr<float>() = 1; }",
    ]
    done = compiled(lines)
    refused = {int(n) for n in re.findall(r"marks\.cc:(\d+):\d+: error", done.stderr)}
    assert refused == set(range(1, len(lines) + 1)), done.stderr
    done = compiled([line.replace(IN, OUT) for line in lines])
    assert done.returncode == 0, done.stderr
