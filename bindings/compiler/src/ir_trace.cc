// Writing a function by running Python: statements gather in the innermost open block of the thread.
#include <kernpack/error.h>
#include <kernpack/sdk/ir/text.h>

#include "author.h"
#include "ir_bindings.h"

namespace kernpack::compiler {
namespace {

using sdk::ir::Block;
using sdk::ir::Expr;
using sdk::ir::ForKind;
using sdk::ir::FuncNode;
using sdk::ir::Param;
using sdk::ir::Stmt;
using sdk::ir::StmtKind;
using sdk::ir::Tail;

// The open blocks of the functions that this thread is tracing, outermost first; a function's own is its first.
std::vector<std::vector<Block>>& Traces() {
  static thread_local std::vector<std::vector<Block>> traces;
  return traces;
}

std::vector<Block>& OpenBlocks() {
  if (Traces().empty()) {
    KP_THROW(RuntimeError) << "statements of the IR belong in a function that @ir.func decorates";
  }
  return Traces().back();
}

// Errors quote the header, which the author may have put together, and give places in it.
FuncNode ParseHeader(const std::string& name, const std::string& header) {
  try {
    return ir::ParseHeader(name, header);
  } catch (const ir::TextError& e) {
    const auto [line, column] = std::pair(e.position().line, e.position().column);
    const std::string said =
        name + ": header '" + header + "', " + (line > 1 ? "line " + std::to_string(line) + ", " : "") + "column " +
        std::to_string(column) + ": " + e.message() + " (defaults, keywords and conditions belong in signature=)";
    throw Error(e.kind().data, KpBytes{said.data(), said.size()});
  }
}

// A function while it is written.
struct Tracer {
  FuncNode function;

  // header: "(x: f32[N], k: f32) -> (out: f32[N])", as the text form has it.
  Tracer(const std::string& name, const std::string& header) : function(ParseHeader(name, header)) {
    function.position = AuthorPosition();
    function.file = AuthorFile();
    for (Param& p : function.params) p.position = function.position;
  }

  // Parameters, results and the extents they bind, by name.
  py::dict Arguments() const {
    py::dict all;
    for (const ir::Var& v : ShapeVars(function)) all[py::str(v->name)] = py::cast(Expr(v));
    for (const Param& p : function.params) {
      all[py::str(p.name())] =
          p.buffer ? py::cast(std::const_pointer_cast<ir::BufferNode>(p.buffer)) : py::cast(Expr(p.var));
    }
    return all;
  }

  void Begin() { Traces().emplace_back(1); }
  void Abandon() { Traces().pop_back(); }
  Function End() {
    std::vector<Block> blocks = std::move(Traces().back());
    Traces().pop_back();
    if (blocks.size() > 1) {
      KP_THROW(RuntimeError) << "ir.func: " << function.name << ": " << blocks.size() - 1
                             << " blocks are open at its end; write loops and branches as `with ir.serial(n) as i:`";
    }
    return {WithBody(function, std::move(blocks.front()))};
  }
};

// The statements that a `with` collected.
struct Body {
  Block statements;
};

Body CloseBlock() {
  std::vector<Block>& open = OpenBlocks();
  if (open.size() == 1)
    KP_THROW(RuntimeError) << "ir: the end of a block that isn't open; write it as `with ir.serial(n) as i:`";
  Body body{std::move(open.back())};
  open.pop_back();
  return body;
}

void RecordFor(const Expr& counter, py::handle begin, py::handle end, const Body& body, const std::string& kind,
               int lanes, bool masked) {
  const ir::Type* type = &counter->type;
  ForKind for_kind = ForKind::kSerial;
  if (kind == "parallel") for_kind = ForKind::kParallel;
  if (kind == "vectorized") for_kind = ForKind::kVectorized;
  if (kind == "unrolled") for_kind = ForKind::kUnrolled;
  Record(ir::For(counter->var(), ToExpr(begin, type), ToExpr(end, type), body.statements, for_kind, lanes,
                 masked ? Tail::kMasked : Tail::kPeeled));
}

void RecordOtherwise(const Body& body) {
  Block& block = OpenBlocks().back();
  if (block.empty() || block.back()->kind != StmtKind::kIf || !block.back()->otherwise.empty()) {
    KP_THROW(RuntimeError) << "ir.otherwise() follows the block of ir.when() directly";
  }
  const Stmt before = block.back();
  block.back() = At(before->position, ir::If(before->args[0], before->body, body.statements));
}

Expr MakeLet(py::handle value, const std::string& name) {
  const Expr bound = ToExpr(value);
  const ir::Var var = ir::MakeVar(name, bound->type);
  Record(ir::Let(var, bound));
  return Expr(var);
}

void TraceCall(const std::string& function, const py::args& args) {
  std::vector<Expr> scalars;
  std::vector<ir::Buffer> buffers;
  for (py::handle a : args) {
    if (py::isinstance<ir::BufferNode>(a)) {
      buffers.push_back(a.cast<std::shared_ptr<ir::BufferNode>>());
    } else {
      scalars.push_back(ToExpr(a));
    }
  }
  Record(ir::Call(function, std::move(scalars), std::move(buffers)));
}

void BindTracer(py::module_& module) {
  py::class_<Body>(module, "Body");
  py::class_<Tracer>(module, "Tracer")
      .def(py::init<const std::string&, const std::string&>(), py::arg("name"), py::arg("header"), PlacesErrors())
      .def_property_readonly("arguments", &Tracer::Arguments)
      .def("set",
           [](Tracer& t, bool is_private, std::string target, std::string signature, std::string gradient) {
             t.function.is_private = is_private;
             t.function.target = std::move(target);
             t.function.signature = std::move(signature);
             t.function.gradient = std::move(gradient);
           })
      .def("begin", &Tracer::Begin)
      .def("abandon", &Tracer::Abandon)
      .def("end", &Tracer::End);
}

}  // namespace

bool IsTracing() { return !Traces().empty(); }

void Record(const Stmt& statement) {
  Block& block = OpenBlocks().back();
  block.push_back(At(AuthorPosition(), statement));
}

void BindIrTrace(py::module_& module) {
  BindTracer(module);
  module.def("open_block", [] { OpenBlocks().emplace_back(); });
  module.def("close_block", &CloseBlock);
  module.def("author_place", &AuthorPlace);
  module.def("depth", [] { return OpenBlocks().size(); });
  module.def("record_for", &RecordFor);
  module.def("record_if",
             [](py::handle condition, const Body& body) { Record(ir::If(ToExpr(condition), body.statements)); });
  module.def("record_while",
             [](py::handle condition, const Body& body) { Record(ir::While(ToExpr(condition), body.statements)); });
  module.def("record_otherwise", &RecordOtherwise);
  module.def("record_launch", [](py::handle grid, py::handle block, py::handle shared, const Body& body) {
    Record(ir::Launch(ToExprs(grid), ToExprs(block), ToExpr(shared), body.statements));
  });
  module.def("thread_index", &ir::ThreadIndex);
  module.def("block_index", &ir::BlockIndex);
  module.def("let", &MakeLet, py::arg("value"), py::arg("name") = "t", "Computes a value once; use what this returns.");
  module.def(
      "check",
      [](py::handle condition, const std::string& message, const std::string& kind, py::handle values) {
        Record(ir::Assert(ToExpr(condition), message, kind, ToExprs(values)));
      },
      py::arg("condition"), py::arg("message"), py::arg("kind") = "ValueError", py::arg("values") = py::tuple(),
      R"(Raises an error of that kind at run time unless the condition holds.

values: up to 4 integers, which take the places of "{}" in the message.)");
  module.def("barrier", [] { Record(ir::Barrier()); }, "Waits for all threads of the block; inside a launch.");
  module.def("break_", [] { Record(ir::Break()); }, "Leaves the innermost loop, `serial` or `repeat`.");
  module.def("continue_", [] { Record(ir::Continue()); }, "Goes on with the next round of the innermost loop.");
  module.def("return_", [] { Record(ir::Return()); }, "Ends the function.");
  module.def("evaluate", [](py::handle value) { Record(ir::Evaluate(ToExpr(value))); }, py::arg("value"));
  module.def("call", &TraceCall);
}

}  // namespace kernpack::compiler
