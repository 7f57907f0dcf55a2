"""Mistakes that authors make in sources, and what each has to say: (what was done, the source, what to do as a pattern)."""

from __future__ import annotations

HEAD = "#include <kernpack/kernel.h>\nnamespace kp = kernpack;\n"
FITS = "void f(kp::TensorView x, kp::MutTensorView out) {}\n"
CONTRACT = "(x: f32[N]) -> (out: f32[N])"


def contract(text: str, function: str = FITS) -> str:
    return f'{HEAD}{function}KP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f, "{text}");\n'


def function(text: str, contract_: str = CONTRACT) -> str:
    return contract(contract_, text + "\n")


# Contracts that don't parse: the text, and what is said of it.
CONTRACTS = [
    ("a dtype that doesn't exist", "(x: f33[N]) -> (out: f32[N])", "no such dtype 'f33'; did you mean 'f32'?"),
    ("torch's name of a dtype", "(x: float32[N]) -> (out: f32[N])", "no such dtype 'float32'; did you mean 'f32'?"),
    ("one arrow's half", "(x: f32[N]) > (out: f32[N])", "expected '->' and the results in parentheses"),
    (
        "results without parentheses",
        "(x: f32[N]) -> f32[N]",
        "expected '(' around the parameters, and around the results",
    ),
    ("no arrow", "(x: f32[N])", "expected '->' and the results in parentheses"),
    ("a missing bracket", "(x: f32[N) -> (out: f32[N])", "expected ']' or ','"),
    ("a missing comma", "(x: f32[N] y: f32[N]) -> (out: f32[N])", "expected ')' or ','"),
    ("no shape", "(x: f32) -> (out: f32[N])", "expected a shape in brackets, as in f32[N, D] or f32[]"),
    ("no type", "(x) -> (out: f32[N])", "expected ':' and a type"),
    ("an upper-case name", "(X: f32[N]) -> (out: f32[N])", "names are lower-case: [a-z_][a-z0-9_]*"),
    ("a keyword of Python", "(lambda: f32[N]) -> (out: f32[N])", "this name is reserved"),
    ("a name twice", "(x: f32[N], x: f32[N]) -> (out: f32[N])", "this name is already taken"),
    ("a result's dim that nothing binds", "(x: f32[N]) -> (out: f32[M])", "no parameter has this dim by itself"),
    ("a dtype variable without its set", "(x: T[N]) -> (out: T[N])", "every dtype variable needs 'where T in {...}'"),
    (
        "a default behind none",
        "(x: f32[N], a: int = 1, b: int) -> (out: f32[N])",
        "a positional parameter without a default",
    ),
    ("a default of another type", "(x: f32[N], *, a: str = 2.0) -> (out: f32[N])", "the default does not fit"),
    (
        "None where it can't be",
        "(x: f32[N], w: f32[N] = None) -> (out: f32[N])",
        "None as a default needs the optional mark",
    ),
    (
        "a dim that may be absent",
        "(x: f32[N]? = None) -> (out: f32[N])",
        "this dim is bound only by an optional parameter",
    ),
    ("... behind a dim", "(x: f32[N, ...]) -> (out: f32[N])", "'...' and '~...' stand first in a shape"),
    ("... in the result alone", "(x: f32[N]) -> (out: f32[..., N])", "needs a parameter that has '...'"),
    ("_ in a result", "(x: f32[N]) -> (out: f32[_])", "'_' is for parameters"),
    ("half a condition", "(x: f32[N]) -> (out: f32[N]) where N", "expected a condition"),
    ("an unknown property", "(x: f32[N]) -> (out: f32[N]) with fast", "the properties are quick, graph_safe"),
    (
        "words behind the end",
        "(x: f32[N]) -> (out: f32[N]) and so on",
        "expected the end of the text, 'where' or 'with'",
    ),
    (
        "an unknown type",
        "(x: f32[N], *, a: integer = 1) -> (out: f32[N])",
        "no such dtype 'integer'; did you mean 'int'?",
    ),
    (
        "a scalar written in place",
        "(x: f32[N], a!: int) -> (out: f32[N])",
        "only a tensor or a list of tensors can be written in place",
    ),
    ("an unknown device", '(x: f32[N]) -> (out: f32[N]) with on \\"gpu\\"', "no such device; the names are DLPack's"),
]

# Sources around contracts that are right.
SOURCES = [
    ("a pointer as a tensor", function("void f(const float* x, kp::MutTensorView out) {}"), "C++ parameter 1 (x): .* its C++ type must be kp::TensorView"),
    ("an input taken as written", function("void f(kp::MutTensorView x, kp::MutTensorView out) {}"), "is a read-only input .* make its kp::MutTensorView a kp::TensorView, or mark it written"),
    ("a result taken as read", function("void f(kp::TensorView x, kp::TensorView out) {}"), "make its kp::TensorView a kp::MutTensorView"),
    ("no parameter for the result", function("void f(kp::TensorView x) {}"), "the C++ function has 1 parameters, the contract needs 2"),
    ("a returned tensor", function("kp::Tensor f(kp::TensorView x) { return {}; }"), "a function with a signature returns void"),
    ("an int for a float", contract("(x: f32[N], a: float) -> (out: f32[N])", "void f(kp::TensorView x, int a, kp::MutTensorView out) {}\n"), r"C++ parameter 2 (a): .* must be double or float; the C++ type given is int"),
    ("a string for a str", contract("(x: f32[N], a: str) -> (out: f32[N])", "void f(kp::TensorView x, double a, kp::MutTensorView out) {}\n"), "C++ parameter 2 (a): .*; the C++ type given is double"),
    ("an optional taken as given", contract("(x: f32[N], w: f32[N]? = None) -> (out: f32[N])", "void f(kp::TensorView x, kp::TensorView w, kp::MutTensorView out) {}\n"), "C++ parameter 2 (w): .* its C++ type must be std::optional<...>; the C++ type given is kp::TensorView"),
    ("a list taken as a tensor", contract("(x: list[f32[N]]) -> ()", "void f(kp::TensorView x) {}\n"), "C++ parameter 1 (x): .*ListView.*; the C++ type given is kp::TensorView"),
    ("a function that isn't there", f'{HEAD}KP_MODULE("m", "1.0.0");\nKP_EXPORT(f, Fn, "{CONTRACT}");', "KP_EXPORT names the C++ function 'Fn', which isn't declared above that line"),
    ("a name in upper case", f'{HEAD}{FITS}KP_MODULE("m", "1.0.0");\nKP_EXPORT(F, f, "{CONTRACT}");', "'F': a name is [a-z_][a-z0-9_]*"),
    ("an export twice", contract(CONTRACT) + f'KP_EXPORT(f, f, "{CONTRACT}");', "'f' is exported twice; keep one KP_EXPORT(f, ...), or use KP_EXPORT_FOR"),
    ("KP_MODULE twice", contract(CONTRACT) + 'KP_MODULE("m", "1.0.0");', "KP_MODULE stands here twice; keep one"),
    ("KP_MODULE without quotes", f'{HEAD}{FITS}KP_MODULE(m, "1.0.0");\nKP_EXPORT(f, f, "{CONTRACT}");', 'KP_MODULE takes two strings: KP_MODULE("m", "1.0.0");'),
    ("no semicolon", f'{HEAD}{FITS}KP_MODULE("m", "1.0.0")\nKP_EXPORT(f, f, "{CONTRACT}");', "expected ';' behind the macro on the line above"),
    ("no namespace kp", f'#include <kernpack/kernel.h>\n{FITS}KP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f, "{CONTRACT}");', "add below the includes: namespace kp = kernpack;"),
    ("a header that isn't there", HEAD + '#include "mine.h"\n' + FITS + "// KP_EXPORT", "the header mine.h isn't found; add its folder: INCLUDE_DIRECTORIES .* include_paths"),
    ("a function that is only declared", function("void f(kp::TensorView x, kp::MutTensorView out);"), "is declared, but nothing that was linked defines it; add the file that does"),
    ("an input's pointer without const", function("void f(kp::TensorView x, kp::MutTensorView out) { float* p = x.data_ptr<float>(); (void)p; }"), "an input is read only: hold its pointer as const float"),
    ("a gradient that isn't exported", contract(CONTRACT) + "KP_GRAD(f, g);", "the module exports no function g with a signature; export it, or correct the name"),
]  # fmt: skip
