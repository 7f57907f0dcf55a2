// Writing a program by running Python: a thin layer over ProgramBuilder that knows the functions' contracts.
#include <kernpack/error.h>
#include <kernpack/sdk/program/builder.h>

#include "author.h"
#include "program/call_types.h"
#include "program_bindings.h"

namespace kernpack::compiler {
namespace {

using program::Constant;
using program::Function;
using program::FunctionTable;
using program::Program;
using program::ProgramBuilder;
using program::Step;
using program::StepKind;
using program::Type;
using program::ValueId;
using sdk::VirtualDevice;

Constant ToConstant(py::handle value) {
  if (value.is_none()) return std::monostate();
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::int_>(value)) return ToInt64(value);
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  const py::object dtype = py::module_::import("kernpack").attr("dtype");
  if (py::isinstance(value, dtype)) return TensorType(value.attr("name").cast<std::string>(), py::list()).dtype;
  KP_THROW(TypeError) << "expected a symbol, a number, a str, a dtype or None, got "
                      << py::type::of(value).attr("__name__").cast<std::string>();
}

// Of (dtype, extents) each.
std::vector<Type> ParseTypes(const py::list& described) {
  std::vector<Type> types;
  for (py::handle one : described) {
    const auto [dtype, shape] = one.cast<std::pair<std::string, py::list>>();
    types.push_back(TensorType(dtype, shape));
  }
  return types;
}

std::vector<Type> GetResults(const Program& p) {
  std::vector<Type> types;
  for (const program::Result& result : p.results) types.push_back(p.values[result.value].type);
  return types;
}

// A program while it is written.
class Builder {
 public:
  Builder(const std::string& name, std::shared_ptr<FunctionTable> table)
      : name_(name), steps_(name), functions_(std::move(table)) {}

  ValueId Param(const std::string& name, const std::string& dtype, const py::iterable& shape) {
    return steps_.Param(name, TensorType(dtype, shape));
  }

  ValueId AddConstant(py::handle value) {
    Step step{StepKind::kConstant};
    step.constant = ToConstant(value);
    const ValueId made = Add(std::move(step), 1).front();
    constants_[made] = ToConstant(value);
    return made;
  }

  ValueId Tuple(std::vector<ValueId> items) {
    const ValueId made = Add({StepKind::kTuple, items}, 1).front();
    tuples_[made] = std::move(items);
    return made;
  }

  // Of a function with a contract, which says what it gives.
  py::list Call(const std::string& callee, std::vector<ValueId> args) {
    const Function& function = *functions_->Find(callee);
    const std::vector<Type> types = TypesOfCall(function, args);
    return Typed(Add({StepKind::kCall, std::move(args), {}, callee}, types.size()), types, callee);
  }

  py::list CallUntyped(const std::string& callee, std::vector<ValueId> args, const py::list& types) {
    return Typed(Add({StepKind::kCall, std::move(args), {}, callee}, types.size()), ParseTypes(types), callee);
  }

  py::list Invoke(const Program& other, std::vector<ValueId> args) {
    return Typed(Add({StepKind::kInvoke, std::move(args), {}, other.name}, other.results.size()), GetResults(other),
                 other.name);
  }

  // args: the condition, then what both programs get.
  py::list Cond(const Program& then, const Program& otherwise, std::vector<ValueId> args) {
    return Typed(Add({StepKind::kIf, std::move(args), {}, then.name, otherwise.name}, then.results.size()),
                 GetResults(then), "chosen");
  }

  ValueId Copy(ValueId value, const VirtualDevice& to) { return Add({StepKind::kCopy, {value}}, 1, to).front(); }

  VirtualDevice FindDevice(ValueId value) const { return steps_[value].device; }
  void SetDevice(ValueId value, const VirtualDevice& device) { steps_.On(value, device); }

  Program Finish(const std::vector<ValueId>& results) {
    steps_.Return(results);
    Program done = steps_.Finish();
    for (const Step& step : done.steps) {
      for (const ValueId v : step.results) done.values[v].position = step.position;
    }
    return done;
  }

 private:
  std::string name_;
  ProgramBuilder steps_;
  std::shared_ptr<FunctionTable> functions_;
  std::map<ValueId, Constant> constants_;
  std::map<ValueId, std::vector<ValueId>> tuples_;  // their elements

  std::vector<ValueId> Add(Step step, size_t results, const VirtualDevice& device = {}) {
    step.position = AuthorPosition();
    return steps_.Add(std::move(step), results, device);
  }

  const Constant* FindConstant(ValueId value) const {
    const auto constant = constants_.find(value);
    return constant == constants_.end() ? nullptr : &constant->second;
  }

  // As a call of the function refuses them, behind the name of the program.
  std::vector<Type> TypesOfCall(const Function& function, const std::vector<ValueId>& args) const {
    std::vector<program::Argument> all;
    for (const ValueId v : args) {
      program::Argument& arg = all.emplace_back(program::Argument{&steps_[v].type, FindConstant(v), {}});
      const auto tuple = tuples_.find(v);
      if (tuple == tuples_.end()) continue;
      for (const ValueId element : tuple->second) arg.elements.push_back(FindConstant(element));
    }
    try {
      return program::TypesOfCall(function, all);
    } catch (const Error& refused) {
      Text text;
      text << name_.c_str() << ": " << refused.message();
      throw Error(program::GetKind(refused), text.bytes());
    }
  }

  // The results of a step, as (value, dtype, extents), with types and named after the called function.
  py::list Typed(const std::vector<ValueId>& results, const std::vector<Type>& types, const std::string& callee) {
    py::list all;
    for (size_t i = 0; i < results.size(); ++i) {
      steps_.Typed(results[i], types[i]).Name(results[i], callee.substr(callee.rfind('.') + 1));
      all.append(py::make_tuple(results[i]) + DescribeType(types[i]));
    }
    return all;
  }
};

}  // namespace

void BindProgramBuilder(py::module_& module) {
  py::class_<Builder>(module, "Builder")
      .def(py::init<const std::string&, std::shared_ptr<FunctionTable>>(), py::arg("name"), py::arg("functions"))
      .def("param", &Builder::Param, py::arg("name"), py::arg("dtype"), py::arg("shape"))
      .def("constant", &Builder::AddConstant, py::arg("value"))
      .def("tuple", &Builder::Tuple, py::arg("items"))
      .def("call", &Builder::Call, py::arg("function"), py::arg("args"))
      .def("call_untyped", &Builder::CallUntyped, py::arg("function"), py::arg("args"), py::arg("types"))
      .def("invoke", &Builder::Invoke, py::arg("program"), py::arg("args"))
      .def("cond", &Builder::Cond, py::arg("then"), py::arg("otherwise"), py::arg("args"))
      .def("copy", &Builder::Copy, py::arg("value"), py::arg("to"))
      .def("device_of", &Builder::FindDevice, py::arg("value"))
      .def("set_device", &Builder::SetDevice, py::arg("value"), py::arg("device"))
      .def("finish", &Builder::Finish, py::arg("results"));
}

}  // namespace kernpack::compiler
