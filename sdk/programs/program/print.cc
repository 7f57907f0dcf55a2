#include "program/print.h"

#include <kernpack/sdk/ir/type.h>
#include <kernpack/sdk/program/text.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ir/names.h"
#include "ir/print_expr.h"
#include "program/type_text.h"
#include "target/host.h"

namespace kernpack::sdk::program {
namespace {

constexpr std::string_view kWords[] = {"program", "const", "call",   "tuple", "get",   "if",   "then", "else", "invoke",
                                       "copy",    "shape", "return", "true",  "false", "None", "inf",  "nan"};

// A name as it is, or in quotes. Dots join the parts of a function's name.
std::string NameText(const std::string& name) {
  size_t begin = 0;
  while (true) {
    const size_t end = std::min(name.find('.', begin), name.size());
    if (!ir::IsIdentifier(std::string_view(name).substr(begin, end - begin))) return ir::Quote(name);
    if (end == name.size()) return name;
    begin = end + 1;
  }
}

class Printer {
 public:
  Printer(const Program& program, const std::vector<std::string>& names) : p_(program), names_(names) {}

  std::string Run(const std::function<std::string(size_t)>& comment) {
    out_ = "program " + NameText(p_.name) + "(";
    for (size_t i = 0; i < p_.params.size(); ++i) {
      if (i) out_ += ", ";
      Define(p_.params[i], Type::Unknown());
    }
    out_ += ") {\n";
    for (size_t i = 0; i < p_.steps.size(); ++i) {
      out_ += "  ";
      Line(p_.steps[i]);
      const std::string behind = comment ? comment(i) : "";
      if (!behind.empty()) out_ += "  # " + behind;
      out_ += "\n";
    }
    out_ += "  return";
    for (size_t i = 0; i < p_.results.size(); ++i) {
      out_ += (i ? ", " : " ") + names_[p_.results[i].value];
      Device(p_.results[i].device);
    }
    out_ += "\n}\n";
    return std::move(out_);
  }

 private:
  const Program& p_;
  const std::vector<std::string>& names_;
  std::string out_;

  void Device(const VirtualDevice& device) {
    if (!device.IsFullyUnconstrained()) out_ += " " + PrintDevice(device);
  }

  // With its type, unless that is what a reader takes it to be.
  void Define(ValueId id, const Type& otherwise) {
    out_ += names_[id];
    const Value& v = p_.values[id];
    if (!(v.type == otherwise)) out_ += ": " + v.type.str();
    Device(v.device);
  }

  void List(const std::vector<ValueId>& args, size_t first = 0) {
    out_ += "(";
    for (size_t i = first; i < args.size(); ++i) out_ += (i > first ? ", " : "") + names_[args[i]];
    out_ += ")";
  }

  void Line(const Step& s) {
    const Type type = DefaultType(p_, s);
    for (size_t i = 0; i < s.results.size(); ++i) {
      if (i) out_ += ", ";
      Define(s.results[i], type);
    }
    if (!s.results.empty()) out_ += " = ";
    out_ += StepKindName(s.kind);
    switch (s.kind) {
      case StepKind::kConstant:
        out_ += " " + PrintConstant(s.constant);
        break;
      case StepKind::kCall:
      case StepKind::kInvoke:
        out_ += " " + NameText(s.callee);
        List(s.args);
        break;
      case StepKind::kTuple:
        List(s.args);
        break;
      case StepKind::kTupleGet:
        out_ += " " + names_[s.args[0]] + "[" + std::to_string(s.index) + "]";
        break;
      case StepKind::kIf:
        out_ += " " + names_[s.args[0]] + " then " + NameText(s.callee) + " else " + NameText(s.otherwise);
        List(s.args, 1);
        break;
      case StepKind::kCopy:
      case StepKind::kShapeOf:
        out_ += " " + names_[s.args[0]];
        break;
    }
  }
};

std::string Digits(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  char digits[40];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

bool IsReserved(std::string_view name) {
  return std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords);
}

std::vector<std::string> SpellValues(const Program& program) {
  ir::Names names(IsReserved);
  std::vector<std::string> spelled(program.values.size());
  const auto define = [&](ValueId id) {
    const std::string& name = program.values[id].name;
    spelled[id] = names.Fresh(name.empty() ? "v" : name);
  };
  for (const ValueId id : program.params) define(id);
  for (const Step& step : program.steps) {
    for (const ValueId id : step.results) define(id);
  }
  return spelled;
}

std::string PrintDevice(const VirtualDevice& device) {
  if (device.IsFullyUnconstrained()) return "";
  std::string out = "@";
  if (device.device_type()) {
    const std::string name = DeviceTypeName(*device.device_type());
    out += ir::IsIdentifier(name) ? name : ir::Quote(name);
  }
  if (device.virtual_device_id()) out += ":" + std::to_string(*device.virtual_device_id());
  if (device.target()) out += " target " + ir::Quote(device.target()->str());
  if (device.memory_scope()) out += std::string(out == "@" ? "" : " ") + "scope " + ir::Quote(*device.memory_scope());
  return out;
}

std::string PrintConstant(const Constant& constant) {
  struct Text {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return Digits(value); }
    std::string operator()(const std::string& value) const { return ir::Quote(value); }
    std::string operator()(DType value) const { return ir::TypeName(value); }
    std::string operator()(const std::vector<int64_t>& extents) const {
      std::string out = "[";
      for (size_t i = 0; i < extents.size(); ++i) out += (i ? ", " : "") + std::to_string(extents[i]);
      return out + "]";
    }
  };
  return std::visit(Text(), constant);
}

std::string Print(const Program& program, const std::vector<std::string>& names,
                  const std::function<std::string(size_t step)>& comment) {
  return Printer(program, names).Run(comment);
}

std::string Print(const Program& program) { return Print(program, SpellValues(program), {}); }

std::string Print(const ProgramModule& module) {
  std::string out;
  for (const Program& p : module.programs) out += (out.empty() ? "" : "\n") + Print(p);
  return out;
}

}  // namespace kernpack::sdk::program
