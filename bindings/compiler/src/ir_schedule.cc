// Stage programs, their schedules, and schedules of plain loops.
#include <kernpack/error.h>
#include <kernpack/sdk/schedule/default.h>
#include <kernpack/sdk/schedule/loops.h>
#include <kernpack/sdk/schedule/schedule.h>

#include "author.h"
#include "ir_bindings.h"

namespace kernpack::compiler {
namespace {

using ir::BufferNode;
using ir::Expr;
using ir::IRModule;
using ir::Schedule;
using ir::StageBuilder;

std::shared_ptr<BufferNode> Shared(const ir::Buffer& buffer) { return std::const_pointer_cast<BufferNode>(buffer); }

ir::Tail ToTail(const std::string& name) {
  if (name == "peeled") return ir::Tail::kPeeled;
  if (name == "masked") return ir::Tail::kMasked;
  KP_THROW(ValueError) << "tail: expected 'peeled' or 'masked', got '" << name << "'";
}

// 0: sequential.
int ToLanes(py::handle order) {
  if (py::isinstance<py::int_>(order)) return order.cast<int>();
  if (py::isinstance<py::str>(order) && order.cast<std::string>() == "sequential") return 0;
  KP_THROW(ValueError) << "reduce: order: expected a number of partial results or 'sequential', got "
                       << py::repr(order).cast<std::string>();
}

std::shared_ptr<BufferNode> Compute(StageBuilder& p, const std::string& name, py::handle shape,
                                    const py::function& body, std::vector<std::string> axes) {
  const auto element = [&](const StageBuilder::Axes& i) { return ToExpr(body(*py::tuple(py::cast(i)))); };
  return Shared(p.Compute(name, ToExprs(shape), element, std::move(axes)));
}

std::shared_ptr<BufferNode> Reduce(StageBuilder& p, const std::string& name, const std::string& op, py::handle shape,
                                   py::handle reduced, const py::function& body, py::handle order,
                                   std::vector<std::string> axes) {
  const auto element = [&](const StageBuilder::Axes& i, const StageBuilder::Axes& r) {
    StageBuilder::Axes all = i;
    all.insert(all.end(), r.begin(), r.end());
    return ToExpr(body(*py::tuple(py::cast(all))));
  };
  return Shared(p.Reduce(name, ToOp(op), ToLanes(order), ToExprs(shape), ToExprs(reduced), element, std::move(axes)));
}

void BindStages(py::module_& module) {
  py::class_<StageBuilder>(module, "StageProgram",
                           R"(A function without loops, as formulas for its elements; a Schedule determines how it runs.

Each stage is one tensor: compute() gives its elements, reduce() joins values for each.)")
      .def(py::init<std::string>(), py::arg("name"), PlacesErrors())
      .def("dim", &StageBuilder::Dim, py::arg("name"), R"(An extent that some input has alone in its shape.

"N...": how many elements all leading dimensions of tensors of any rank make.)",
           PlacesErrors())
      .def(
          "input",
          [](StageBuilder& p, const std::string& name, py::handle dtype, py::handle shape) {
            return Shared(p.Input(name, ToType(dtype), ToExprs(shape)));
          },
          py::arg("name"), py::arg("dtype"), py::arg("shape"), PlacesErrors())
      .def(
          "scalar",
          [](StageBuilder& p, const std::string& name, py::handle dtype) { return p.Scalar(name, ToType(dtype)); },
          py::arg("name"), py::arg("dtype"), PlacesErrors())
      .def("compute", &Compute, py::arg("name"), py::arg("shape"), py::arg("body"),
           py::arg("axes") = std::vector<std::string>(), "Element [i, j, ...] is body(i, j, ...).", PlacesErrors())
      .def("reduce", &Reduce, py::arg("name"), py::arg("op"), py::arg("shape"), py::arg("reduced"), py::arg("body"),
           py::arg("order") = 16, py::arg("axes") = std::vector<std::string>(),
           R"(Element [i, ...] joins body(i, ..., r, ...) over the extents `reduced`, the last one fastest.

order: a number of partial results, or "sequential", as ir.reduce has it.)",
           PlacesErrors())
      .def(
          "result", [](StageBuilder& p, const std::shared_ptr<BufferNode>& stage) { p.Result(stage); },
          py::arg("stage"), "Makes a stage a result of the function, under its name.", PlacesErrors());
}

void BindSchedule(py::module_& module) {
  py::class_<Schedule>(module, "Schedule", R"(How the stages of a program run; nothing here changes a result.

Stages and axes go by name. ValueError for what would change a result: it names stage, axis and what to do instead.)")
      .def(py::init([](const StageBuilder& p) { return Schedule(p.Finish()); }), py::arg("program"), PlacesErrors())
      .def(
          "split",
          [](Schedule& s, const std::string& stage, const std::string& axis, int64_t factor, const std::string& tail) {
            return s.Split(stage, axis, factor, ToTail(tail));
          },
          py::arg("stage"), py::arg("axis"), py::arg("factor"), py::arg("tail") = "peeled",
          "axis = outer * factor + inner; the names of the two.", PlacesErrors())
      .def("fuse", &Schedule::Fuse, py::arg("stage"), py::arg("outer"), py::arg("inner"), PlacesErrors())
      .def("reorder", &Schedule::Reorder, py::arg("stage"), py::arg("axes"), PlacesErrors())
      .def("parallel", &Schedule::Parallel, py::arg("stage"), py::arg("axis"), py::arg("grain") = 0, PlacesErrors())
      .def(
          "vectorize",
          [](Schedule& s, const std::string& stage, const std::string& axis, int lanes, const std::string& tail) {
            s.Vectorize(stage, axis, lanes, ToTail(tail));
          },
          py::arg("stage"), py::arg("axis"), py::arg("lanes"), py::arg("tail") = "peeled", PlacesErrors())
      .def("unroll", &Schedule::Unroll, py::arg("stage"), py::arg("axis"), PlacesErrors())
      .def("bind", &Schedule::Bind, py::arg("stage"), py::arg("axis"), py::arg("index"), "index: block.x to thread.z.",
           PlacesErrors())
      .def("compute_at", &Schedule::ComputeAt, py::arg("stage"), py::arg("consumer"), py::arg("axis"), PlacesErrors())
      .def("cache_read", &Schedule::CacheRead, py::arg("source"), py::arg("reader"), PlacesErrors())
      .def("cache_write", &Schedule::CacheWrite, py::arg("stage"), PlacesErrors())
      .def("pack", &Schedule::Pack, py::arg("source"), py::arg("reader"), py::arg("dim"), py::arg("factor"),
           PlacesErrors())
      .def(
          "replay", [](Schedule& s, const std::string& trace) { s.Replay(trace); }, py::arg("trace"), PlacesErrors())
      .def_property_readonly("trace", &Schedule::Trace, "The primitives so far, one per line.")
      .def("axes", &Schedule::Axes, py::arg("stage"), "From the outermost loop to the innermost.", PlacesErrors())
      .def("lower", [](const Schedule& s) { return Function{s.Lower()}; }, "The function.", PlacesErrors());
}

void BindLoops(py::module_& module) {
  module.def(
      "split_loop",
      [](const IRModule& m, const std::string& function, const std::string& loop, int64_t factor,
         const std::string& tail) { return ir::SplitLoop(m, function, loop, factor, ToTail(tail)); },
      py::arg("module"), py::arg("function"), py::arg("loop"), py::arg("factor"), py::arg("tail") = "peeled",
      "loop = loop_o * factor + loop_i, in the same order. A loop goes by the name of its variable.", PlacesErrors());
  module.def("unroll_loop", &ir::UnrollLoop, py::arg("module"), py::arg("function"), py::arg("loop"), PlacesErrors());
  module.def("parallel_loop", &ir::ParallelLoop, py::arg("module"), py::arg("function"), py::arg("loop"),
             py::arg("grain") = 0, "ValueError unless the verifier finds the iterations independent.", PlacesErrors());
  module.def(
      "vectorize_loop",
      [](const IRModule& m, const std::string& function, const std::string& loop, int lanes, const std::string& tail) {
        return ir::VectorizeLoop(m, function, loop, lanes, ToTail(tail));
      },
      py::arg("module"), py::arg("function"), py::arg("loop"), py::arg("lanes"), py::arg("tail") = "peeled",
      PlacesErrors());
  module.def(
      "schedule_by_default",
      [](const IRModule& m, py::handle target) { return ir::ScheduleByDefault(m, ToTarget(target)); },
      py::arg("module"), py::arg("target"),
      "Gives functions whose loops are all serial a schedule for the target; results stay the same to the bit.",
      PlacesErrors());
}

}  // namespace

void BindIrSchedule(py::module_& module) {
  BindStages(module);
  BindSchedule(module);
  BindLoops(module);
}

}  // namespace kernpack::compiler
