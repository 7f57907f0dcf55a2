"""Mistakes that authors make in sources, and their messages: (the mistake, the source, a pattern of the message)."""

from __future__ import annotations

HEAD = "#include <kernpack/kernel.h>\nnamespace kp = kernpack;\n"
FITS = "void f(kp::TensorView x, kp::MutTensorView out) {}\n"
BACKWARD = "void g(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x) {}\n"
CONTRACT = "(x: f32[N]) -> (out: f32[N])"
BODY = """\
void f(kp::TensorView x, kp::MutTensorView out) {
  const int64_t n = x.numel();
  float* to = out.data_ptr<float>();
  for (int64_t i = 0; i < n; ++i) {
    to[i] = 1;
  }
}"""
PARALLEL = """\
void f(kp::TensorView x, kp::MutTensorView out) {
  float* to = out.data_ptr<float>();
  kp::parallel_for(x.numel(), 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = 1;
  });
}"""


def contract(text: str, function: str = FITS) -> str:
    return f'{HEAD}{function}KP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f, "{text}");\n'


def function(text: str, contract_: str = CONTRACT) -> str:
    return contract(contract_, text + "\n")


# Contracts that don't parse: the text, and its message.
CONTRACTS = [
    ("a dtype that doesn't exist", "(x: f33[N]) -> (out: f32[N])", "no such dtype 'f33'; did you mean 'f32'?"),
    ("torch's name of a dtype", "(x: float32[N]) -> (out: f32[N])", "no such dtype 'float32'; did you mean 'f32'?"),
    ("half an arrow", "(x: f32[N]) > (out: f32[N])", "expected '->' and the results in parentheses"),
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
        "a parameter without a default after one with",
        "(x: f32[N], a: int = 1, b: int) -> (out: f32[N])",
        "a positional parameter without a default",
    ),
    ("a default of another type", "(x: f32[N], *, a: str = 2.0) -> (out: f32[N])", "the default does not fit"),
    (
        "None as the default of a parameter that isn't optional",
        "(x: f32[N], w: f32[N] = None) -> (out: f32[N])",
        "None as a default needs the optional mark",
    ),
    (
        "a dim that may be absent",
        "(x: f32[N]? = None) -> (out: f32[N])",
        "this dim is bound only by an optional parameter",
    ),
    ("`...` after a dim", "(x: f32[N, ...]) -> (out: f32[N])", "'...' and '~...' stand first in a shape"),
    ("`...` only in the result", "(x: f32[N]) -> (out: f32[..., N])", "needs a parameter that has '...'"),
    ("`_` in a result", "(x: f32[N]) -> (out: f32[_])", "'_' is for parameters"),
    ("a size that data decide", "(x: f32[N]) -> (indices: i64[COUNT])", "give a bound and a count (docs/patterns.md)"),
    (
        "two dims tuples",
        "(x: f32[*B, E, *K]) -> (out: f32[*B, *K])",
        "callers join the dims of one (docs/patterns.md)",
    ),
    ("a list without an index", "(x: f32[N], s: list[int]) -> (out: f32[N // s])", "as in stride[0]"),
    ("an index from the end", "(x: f32[N], s: list[int]) -> (out: f32[s[-1]])", "an index is a number from 0"),
    (
        "a list's default that is too short",
        "(x: f32[N], s: list[int] = [1]) -> (out: f32[s[1]])",
        "the default of this list has fewer",
    ),
    ("half a condition", "(x: f32[N]) -> (out: f32[N]) where N", "expected a condition"),
    ("an unknown property", "(x: f32[N]) -> (out: f32[N]) with fast", "the properties are quick, graph_safe"),
    (
        "text after the end",
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
    (
        "types before names",
        "(Tensor x) -> (Tensor out)",
        "a parameter is a name, ':' and a type, as in x: f32[N]",
    ),
    ("a result without a name", "(x: f32[N]) -> (f32[N])", "a result has a name: (out: f32[N])"),
    (
        "a dim only in an expression",
        "(x: f32[2 * N]) -> (out: f32[N])",
        "give a parameter the dim by itself, as in x: f32[N]",
    ),
    ("a lower-case dim", "(x: f32[n]) -> (out: f32[n])", "dims are upper-case: N"),
    ("one dtype for a variable", "(x: T[N]) -> (out: T[N]) where T = f32", "as in where T in {f32, f64}"),
    ("a set in brackets", "(x: T[N]) -> (out: T[N]) where T in [f32, f64]", "as in where T in {f32, f64}"),
    (
        "a result marked as written",
        "(x: f32[N]) -> (out!: f32[N])",
        "results don't take '!': a kernel always writes them",
    ),
    ("a division with one slash", "(x: f32[N]) -> (out: f32[N / 2])", "sizes are divided by '//', as in D // 2"),
    ("= in a condition", "(x: f32[N]) -> (out: f32[N]) where N = 4", "write '==' for equality"),
    (
        "properties without a comma",
        "(x: f32[N]) -> (out: f32[N]) with deterministic quick",
        "properties are separated by ','",
    ),
    ("C's true", "(x: f32[N], *, a: bool = true) -> (out: f32[N])", "as in Python: True, False"),
    ("a list as a result", "(x: f32[N]) -> (out: list[f32[N]])", "'list' is for parameters: name each result"),
    ("`!` after the type", "(x: f32[N]!) -> ()", "write '!' after the name: x!: f32[N]"),
    ("a strided result", "(x: f32[N]) -> (out: f32[N] strided)", "'strided' is for parameters: a result is compact"),
    (
        "typing's Optional",
        "(x: f32[N], w: Optional[f32[N]]) -> (out: f32[N])",
        "what may be None is marked '?', as in w: f32[N]? = None",
    ),
    ("a semicolon", "(x: f32[N]; y: f32[N]) -> (out: f32[N])", "parameters are separated by ','"),
    ("a double arrow", "(x: f32[N]) => (out: f32[N])", "the arrow is '->'"),
    ("an arrow of Unicode", "(x: f32[N]) \u2192 (out: f32[N])", "the arrow is '->', in ASCII"),
    ("an unknown device", '(x: f32[N]) -> (out: f32[N]) with on \\"gpu\\"', "no such device; the names are DLPack's"),
]

# Sources around contracts that are right.
SOURCES = [
    ("a pointer as a tensor", function("void f(const float* x, kp::MutTensorView out) {}"), "C++ parameter 1 (x): .* its C++ type must be kp::TensorView"),
    ("a MutTensorView for an input", function("void f(kp::MutTensorView x, kp::MutTensorView out) {}"), "is a read-only input .* make its kp::MutTensorView a kp::TensorView, or mark it written"),
    ("a TensorView for a result", function("void f(kp::TensorView x, kp::TensorView out) {}"), "make its kp::TensorView a kp::MutTensorView"),
    ("no parameter for the result", function("void f(kp::TensorView x) {}"), "the C++ function has 1 parameter, the contract needs 2"),
    ("a returned tensor", function("kp::Tensor f(kp::TensorView x) { return {}; }"), "a function with a signature returns void"),
    ("an int for a float", contract("(x: f32[N], a: float) -> (out: f32[N])", "void f(kp::TensorView x, int a, kp::MutTensorView out) {}\n"), r"C++ parameter 2 (a): .* must be double or float; the C++ type given is int"),
    ("a double for a str", contract("(x: f32[N], a: str) -> (out: f32[N])", "void f(kp::TensorView x, double a, kp::MutTensorView out) {}\n"), "C++ parameter 2 (a): .*; the C++ type given is double"),
    ("an optional parameter without std::optional", contract("(x: f32[N], w: f32[N]? = None) -> (out: f32[N])", "void f(kp::TensorView x, kp::TensorView w, kp::MutTensorView out) {}\n"), "C++ parameter 2 (w): .* its C++ type must be std::optional<...>; the C++ type given is kp::TensorView"),
    ("a TensorView for a list", contract("(x: list[f32[N]]) -> ()", "void f(kp::TensorView x) {}\n"), "C++ parameter 1 (x): .*ListView.*; the C++ type given is kp::TensorView"),
    ("a function that isn't there", f'{HEAD}KP_MODULE("m", "1.0.0");\nKP_EXPORT(f, Fn, "{CONTRACT}");', "KP_EXPORT names the C++ function 'Fn', which isn't declared above that line"),
    ("an exported function that is misspelt", contract(CONTRACT, FITS.replace(" f(", " twice(")).replace("KP_EXPORT(f, f", "KP_EXPORT(f, twicee"), "KP_EXPORT names the C++ function 'twicee', which isn't declared above that line; did you mean 'twice'?"),
    ("no function beside the contract", contract(CONTRACT).replace("KP_EXPORT(f, f,", "KP_EXPORT(f,"), "name the C++ function before the contract: KP_EXPORT(op, Function, "),
    ("a name in upper case", f'{HEAD}{FITS}KP_MODULE("m", "1.0.0");\nKP_EXPORT(F, f, "{CONTRACT}");', "'F': a name is [a-z_][a-z0-9_]*"),
    ("an export twice", contract(CONTRACT) + f'KP_EXPORT(f, f, "{CONTRACT}");', "'f' is exported twice; keep one KP_EXPORT(f, ...), or use KP_EXPORT_FOR"),
    ("KP_MODULE twice", contract(CONTRACT) + 'KP_MODULE("m", "1.0.0");', "KP_MODULE appears twice in this file; keep one"),
    ("KP_MODULE without quotes", f'{HEAD}{FITS}KP_MODULE(m, "1.0.0");\nKP_EXPORT(f, f, "{CONTRACT}");', 'KP_MODULE takes two strings: KP_MODULE("m", "1.0.0");'),
    ("no semicolon", f'{HEAD}{FITS}KP_MODULE("m", "1.0.0")\nKP_EXPORT(f, f, "{CONTRACT}");', "expected ';' after the macro on the line above"),
    ("no namespace kp", f'#include <kernpack/kernel.h>\n{FITS}KP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f, "{CONTRACT}");', "add below the includes: namespace kp = kernpack;"),
    ("a header that isn't there", HEAD + '#include "mine.h"\n' + FITS + "// KP_EXPORT", "the header mine.h isn't found; add its folder: INCLUDE_DIRECTORIES .* include_paths"),
    ("a function that is only declared", function("void f(kp::TensorView x, kp::MutTensorView out);"), "is declared, but nothing that was linked defines it; add the file that does"),
    ("an input's pointer without const", function("void f(kp::TensorView x, kp::MutTensorView out) { float* p = x.data_ptr<float>(); (void)p; }"), "an input is read only: hold its pointer as const float"),
    ("a gradient of another name", contract(CONTRACT, FITS + BACKWARD) + 'KP_EXPORT(g, g, "(d_out: f32[N], x: f32[N]) -> (dx: f32[N])");\nKP_GRAD(f, g);', "result dx: expected the gradient of a parameter of f (d_x)"),
    ("a gradient twice", contract(CONTRACT, FITS + BACKWARD) + 'KP_EXPORT(g, g, "(d_out: f32[N], x: f32[N]) -> (d_x: f32[N])");\nKP_GRAD(f, g);\nKP_GRAD(f, g);', "g and g both give d_x; expected one of them"),
    ("a gradient of another size", contract(CONTRACT, FITS + BACKWARD) + 'KP_EXPORT(g, g, "(d_out: f32[N], x: f32[N]) -> (d_x: f32[1])");\nKP_GRAD(f, g);', "KP_GRAD: g: result d_x: expected the shape of x in f, [N], got [1]: where x is [5], d_x would be [1]; give d_x the dims of x"),
    ("a gradient and its function swapped", contract(CONTRACT, FITS + BACKWARD) + 'KP_EXPORT(g, g, "(d_out: f32[N], x: f32[N]) -> (d_x: f32[N])");\nKP_GRAD(g, f);', "KP_GRAD(g, f): expected the forward op first, but g gives d_x, a gradient of f; write KP_GRAD(f, g)"),
    ("a macro in the contract", f'{HEAD}{FITS}#define FLOATS " where T in {{f32, f64}}"\nKP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f, "(x: T[N]) -> (out: U[N])" FLOATS);', "inline.cc:6: the contract of 'f' doesn't parse: no parameter has this dtype variable"),
    ("a macro that the source doesn't define", f'{HEAD}{FITS}KP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f, "(x: f33[N]) -> () " __VERSION__);', "inline.cc:5: the contract of 'f' doesn't parse: no such dtype 'f33'; did you mean 'f32'?"),
    ("a macro with arguments in the contract", f'{HEAD}{FITS}#define VECTOR(T) "(x: " #T "[N]) -> (out: f32[N])"\nKP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f, VECTOR(f33));', "inline.cc:6: the contract of 'f' doesn't parse: no such dtype 'f33'; did you mean 'f32'?"),
    ("a macro that exports", f'{HEAD}{FITS}#define EXPORT(name, T) \\\n  KP_EXPORT(name, f, "(x: " #T "[N]) -> (out: f32[N])")\nKP_MODULE("m", "1.0.0");\nEXPORT(vector, f33);', "inline.cc:7: the contract of 'vector' doesn't parse: no such dtype 'f33'; did you mean 'f32'?"),
    ("a macro that exports what doesn't fit", f'{HEAD}{FITS}#define EXPORT(name) KP_EXPORT(name, f, "(x: f32[N], a: float) -> (out: f32[N])")\nKP_MODULE("m", "1.0.0");\nEXPORT(vector);', "inline.cc:6: 'vector': the C++ function has 2 parameters, the contract needs 3"),
    ("a contract in a constant", f'{HEAD}{FITS}constexpr char kContract[] = "(x: f33[N]) -> (out: f32[N])";\nKP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f, kContract);', "inline.cc:6: the contract of 'f' doesn't parse: no such dtype (at byte 4 of its text)"),
    ("a gradient of what is written in place", f'{HEAD}void f(kp::MutTensorView acc, kp::TensorView x) {{}}\nvoid g(kp::TensorView d_acc, kp::MutTensorView d_x) {{}}\nKP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f, "(acc!: f32[N], x: f32[N]) -> ()");\nKP_EXPORT(g, g, "(d_acc: f32[N]) -> (d_x: f32[N])");\nKP_GRAD(f, g);', "acc is written in place (acc!), and no gradient goes through that; .* (docs/patterns.md)"),
    ("a contract without quotes", f'{HEAD}{FITS}KP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f, {CONTRACT});', "write the contract as a string, in quotes: KP_EXPORT"),
    ("no comma before the contract", f'{HEAD}{FITS}KP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f "{CONTRACT}");', "a ',' is missing before the contract"),
    ("KP_MODULE without a version", f'{HEAD}{FITS}KP_MODULE("m");\nKP_EXPORT(f, f, "{CONTRACT}");', "KP_MODULE takes two strings, name and version"),
    ("an export inside a function", f'{HEAD}{FITS}KP_MODULE("m", "1.0.0");\nvoid setup() {{ KP_EXPORT(f, f, "{CONTRACT}"); }}', "write KP_EXPORT outside functions and classes, on a line of its own"),
    ("an overloaded function", contract(CONTRACT, FITS + "void f(kp::TensorView x) {}\n"), "is a template or has overloads; write one function for KP_EXPORT"),
    ("a lambda", f'{HEAD}KP_MODULE("m", "1.0.0");\nKP_EXPORT(f, [](kp::TensorView x, kp::MutTensorView out) {{}}, "{CONTRACT}");', "KP_EXPORT takes the name of a function outside any class"),
    ("torch's tensor type", function("void f(torch::Tensor x, torch::Tensor out) {}"), "use kp::TensorView (inputs) and kp::MutTensorView (outputs)"),
    ("a view by reference", function("void f(kp::TensorView x, kp::MutTensorView& out) {}"), "kernels take their parameters by value: kp::MutTensorView without &"),
    ("the result before the inputs", contract("(x: f32[N], n: int) -> (out: f32[N])", "void f(kp::MutTensorView out, kp::TensorView x, int64_t n) {}\n"), "after the signature's parameters come its results"),
    ("a shape as a field", function("void f(kp::TensorView x, kp::MutTensorView out) { auto n = x.shape[0]; (void)n; }"), "are called with parentheses: x.size(0), x.shape()[0]"),
    ("size without a dim", function("void f(kp::TensorView x, kp::MutTensorView out) { auto n = x.size(); (void)n; }"), "x.size() needs the number of a dim, as in x.size(0); all elements are x.numel()"),
    ("KP_CHECK without a kind", function("void f(kp::TensorView x, kp::MutTensorView out) { KP_CHECK(x.numel() > 0) << 1; }"), "KP_CHECK takes a condition and a kind, the text follows"),
    ("an input that is written", function("void f(kp::TensorView x, kp::MutTensorView out) { x.data_ptr<float>()[0] = 1; }"), "an input is read only: write to a result, or mark it written"),
    ("an input's span without const", function("void f(kp::TensorView x, kp::MutTensorView out) { const kp::Span<float> in(x); (void)in; }"), "an input is read only: view it as kp::Span<const float>, or mark it written"),
    ("an input's accessor without const", function("void f(kp::TensorView x, kp::MutTensorView out) { const kp::Accessor<float, 1> in(x); (void)in; }"), "an input is read only: view it as kp::Accessor<const float>, or mark it written"),
    ("an input that is written through a span", function("void f(kp::TensorView x, kp::MutTensorView out) { const kp::Span<const float> in(x); in[0] = 1; }"), "an input is read only: write to a result, or mark it written"),
    ("a class of C++'s without a contract", f'{HEAD}struct Sizes {{}};\nint64_t f(Sizes) {{ return 0; }}\nKP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f);', "this parameter type cannot be passed from other languages; .*; the C++ type given is Sizes"),
    ("a static_assert of one's own beside another mistake", f'{HEAD}template <class T> void f(kp::TensorView x, T by, kp::MutTensorView out) {{ static_assert(sizeof(T) == 4, "f: by: 4 bytes"); }}\nKP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f<int64_t>, "(x: f32[N], by: float) -> (out: f32[N])");', "f: by: 4 bytes"),
    ("a lost brace of a loop", function(BODY.replace("  }\n", "", 1)), "inline.cc:6: the '{' of this line isn't closed: a '}' is missing before the '}' on line 8"),
    ("a lost brace of a lambda", function(PARALLEL.replace("  });", "  );")), "inline.cc:5: the '{' of this line isn't closed: a '}' is missing before the ')' on line 7"),
    ("a lost brace of a function", function(BODY.removesuffix("}")), "inline.cc:3: the '{' of this line isn't closed: a '}' is missing before the end of the file"),
    ("a brace too many", function(BODY + "}"), "inline.cc:9: this '}' closes nothing: remove it, or add the '{' that is missing"),
    ("a lost parenthesis", function(BODY.replace("numel()", "numel(")), "inline.cc:4: a ')' is missing on this line: its '(' isn't closed"),
    ("a lost parenthesis of a call over several lines", function(PARALLEL.replace("  });", "  };")), "inline.cc:5: the '(' of this line isn't closed: a ')' is missing before the ';' on line 7"),
    ("a parenthesis too many", function(BODY.replace("numel()", "numel())")), "inline.cc:4: this ')' closes nothing: remove it, or add the '(' that is missing"),
    ("a lost bracket", function(BODY.replace("[i] = 1", "[i = 1")), "inline.cc:7: a ']' is missing on this line: its '[' isn't closed"),
    ("a lost quote", contract(CONTRACT).replace('N])")', "N]))"), "inline.cc:5: a '\"' is missing on this line: a string isn't closed"),
    ("a lost semicolon in a function", function(BODY.replace("numel();", "numel()")), "inline.cc:4: a ';' is missing after 'const int64_t n = x.numel()'"),
    ("a lost semicolon before a namespace", HEAD.replace("kernpack;", "kernpack") + "namespace {\n" + FITS + f'}}\nKP_MODULE("m", "1.0.0");\nKP_EXPORT(f, f, "{CONTRACT}");', "inline.cc:2: a ';' is missing after 'namespace kp = kernpack'"),
    ("a lost semicolon after a class", function("struct Pair { int a, b; }\n" + FITS), "inline.cc:3: a ';' is missing after 'struct Pair { int a, b; }'"),
    ("a misspelt class", function(BODY.replace("TensorView", "TensorVew", 1)), "inline.cc:3: kp::TensorVew isn't a name of Kernpack; did you mean kp::TensorView?"),
    ("a misspelt function", function(PARALLEL.replace("parallel", "paralell")), "inline.cc:5: kp::paralell_for isn't a name of Kernpack; did you mean kp::parallel_for?"),
    ("a misspelt member", function(BODY.replace("numel", "nume")), "inline.cc:4: kp::TensorView has no member nume; did you mean numel?"),
    ("a misspelt macro, and nothing else exported", contract(CONTRACT).replace("KP_EXPORT", "KP_EXPRT"), "load_inline: nothing is exported: line 5 has KP_EXPRT; did you mean 'KP_EXPORT'?"),
    ("a macro in lower case", contract(CONTRACT).replace("KP_EXPORT", "kp_export"), "load_inline: nothing is exported: line 5 has kp_export; did you mean 'KP_EXPORT'?"),
    ("KP_GRAD misspelt", contract(CONTRACT) + "KP_GARD(f, f_backward);\n", "inline.cc:6: KP_GARD isn't a macro of Kernpack; did you mean KP_GRAD?"),
    ("a gradient of a misspelt function", contract(CONTRACT, FITS + BACKWARD).replace("KP_EXPORT(f,", "KP_EXPORT(swish,") + 'KP_EXPORT(g, g, "(d_out: f32[N], x: f32[N]) -> (d_x: f32[N])");\nKP_GRAD(swihs, g);', "the module exports no function swihs with a signature; export it, or correct the name; did you mean 'swish'?"),
    ("a misspelt macro", contract(CONTRACT).replace("KP_EXPORT", "KP_EXPROT") + "// KP_EXPORT", "inline.cc:5: KP_EXPROT isn't a macro of Kernpack; did you mean KP_EXPORT?"),
    ("a misspelt header", contract(CONTRACT).replace("kernel.h>", "kernel.h>\n#include <kernpack/strem.h>"), "inline.cc:2: there is no header kernpack/strem.h; did you mean kernpack/stream.h?"),
    ("a header of Kernpack's that isn't included", function("void f(kp::TensorView x, kp::MutTensorView out) { const kp::DeviceCode* code = nullptr; (void)code; }"), "inline.cc:3: kp::DeviceCode is declared in kernpack/device_kernel.h, which isn't included; add #include <kernpack/device_kernel.h>"),
    ("a class without its namespace", function(BODY.replace("kp::TensorView", "TensorView")), "inline.cc:3: TensorView is a name of Kernpack's namespace; write kp::TensorView"),
    ("std::string without its header", contract("(x: f32[N], a: str) -> (out: f32[N])", "void f(kp::TensorView x, std::string a, kp::MutTensorView out) {}\n"), "inline.cc:3: std::string is declared in <string>, which isn't included; add #include <string>"),
    ("std::vector without its header", function(BODY.replace("const int64_t n", "std::vector<int> v; const int64_t n")), "inline.cc:4: std::vector is declared in <vector>, which isn't included; add #include <vector>"),
    ("a gradient that isn't exported", contract(CONTRACT) + "KP_GRAD(f, g);", "the module exports no function g with a signature; export it, or correct the name"),
]  # fmt: skip

# Flags of the compiler: extra_cflags of load_inline, with a source that is right.
FLAGS = [
    ("an older C++", ["-std=c++14"], "Kernpack's headers need C++17, and the compiler was told an older standard: remove -std=... from its flags"),
]  # fmt: skip

# CMake: the line after find_package(kernpack) in CMakeLists.txt, and its message.
CMAKE = [
    ("a misspelled argument", "kernpack_add_module(m SOURCE m.cc)", "unknown argument 'SOURCE m.cc'; the arguments are SOURCES, "),
    ("sources without SOURCES", "kernpack_add_module(m m.cc)", "unknown argument 'm.cc'; the arguments are SOURCES, "),
    ("no sources", "kernpack_add_module(m DESTINATION m)", "SOURCES is empty; list the file that holds KP_MODULE"),
    ("DESTINATION without a folder", "kernpack_add_module(m SOURCES m.cc DESTINATION)", "DESTINATION has no value; give it the package's folder"),
    ("DESTINATION outside of the wheel", "kernpack_add_module(m SOURCES m.cc DESTINATION /usr/lib)", "expected the package's folder, as in DESTINATION my_kernels"),
]  # fmt: skip
