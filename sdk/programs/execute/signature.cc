#include "execute/module_parts.h"

#include <kernpack/error.h>
#include <kernpack/sdk/ir/type.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "codegen/signature_words.h"

namespace kernpack::sdk::program {
namespace {

// Makes names that a signature takes: lower case for values, upper for dims, none twice.
class Names {
 public:
  std::string Value(const std::string& name) {
    std::string text = Cleaned(name);
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0]))) text = "v" + text;
    return Unique(text, &values_);
  }
  std::string Dim(const std::string& symbol) {
    const auto known = dims_.find(symbol);
    if (known != dims_.end()) return known->second;
    std::string text = Cleaned(symbol);
    if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    if (text.empty() || !std::isupper(static_cast<unsigned char>(text[0]))) text = "D" + text;
    return dims_[symbol] = Unique(text, &taken_dims_);
  }

 private:
  std::set<std::string> values_;
  std::set<std::string> taken_dims_;
  std::map<std::string, std::string> dims_;

  static std::string Cleaned(std::string text) {
    for (char& c : text) {
      if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    }
    return text;
  }
  static std::string Unique(std::string name, std::set<std::string>* taken) {
    while (!taken->insert(name).second) name += "_";
    return name;
  }
};

class Deriver {
 public:
  explicit Deriver(const ResolvedPlan& resolved) : resolved_(resolved), program_(*resolved.entry->program) {}

  std::string Run() {
    FindDevice();
    std::string params;
    for (const ValueId param : program_.params) {
      const std::string name = names_.Value(program_.values[param].name);
      const char* mark = resolved_.written[param] ? "!: " : ": ";
      params += (params.empty() ? "" : ", ") + name + mark + TypeOf(param, /*result=*/false);
    }
    std::string results;
    for (const Result& result : program_.results) {
      const std::string& name = program_.values[result.value].name;
      results += (results.empty() ? "" : ", ") + names_.Value(name.empty() ? "out" : name) + ": " +
                 TypeOf(result.value, /*result=*/true);
    }
    const std::string text = "(" + params + ") -> (" + results + ")";
    CompileSignature(program_.name, text);
    return text;
  }

 private:
  const ResolvedPlan& resolved_;
  const Program& program_;
  Names names_;
  KpDLDevice device_ = kHost;  // of the call: where its tensors are, but for those of the host

  [[noreturn]] void Refuse(ValueId value, const std::string& why) const {
    const Value& v = program_.values[value];
    const std::string name = v.name.empty() ? "%" + std::to_string(value) : v.name;
    KP_THROW(ValueError) << program_.name << ": " << name << ": " << why;
  }

  KpDLDevice ResolvedDevice(ValueId value) const {
    return resolved_.devices[resolved_.entry->values[value].device].device;
  }

  void FindDevice() {
    const auto look = [&](ValueId value) {
      const KpDLDevice device = ResolvedDevice(value);
      if (!program_.values[value].type.is_tensor() || SameDevice(device, kHost) || SameDevice(device, device_)) return;
      if (!SameDevice(device_, kHost)) {
        Refuse(value, "it is on " + GetName(device) + " and others are on " + GetName(device_) +
                          "; the tensors of a function are on one device, and on the host");
      }
      device_ = device;
    };
    for (const ValueId param : program_.params) look(param);
    for (const Result& result : program_.results) look(result.value);
  }

  std::string TypeOf(ValueId value, bool result) {
    const Type& type = program_.values[value].type;
    switch (type.kind) {
      case TypeKind::kTensor:
        return FormatTensor(value, type, result);
      case TypeKind::kInt:
      case TypeKind::kFloat:
      case TypeKind::kBool:
      case TypeKind::kStr:
      case TypeKind::kDType:
        if (!result) return type.str();
        break;
      default:
        break;
    }
    Refuse(value, std::string("expected a tensor") + (result ? "" : " or a number, text or dtype") + ", got " +
                      type.str() + "; a function " + (result ? "gives tensors" : "takes nothing else"));
  }

  std::string FormatTensor(ValueId value, const Type& type, bool result) {
    if (!type.dims || type.dtype.bits == 0) Refuse(value, "its type, " + type.str() + ", must say its dtype and rank");
    const bool on_host = SameDevice(ResolvedDevice(value), kHost) && !SameDevice(device_, kHost);
    if (on_host && result)
      Refuse(value, "it is on the host and others are on " + GetName(device_) + "; return it there");
    std::string text = ir::TypeName(type.dtype) + "[";
    for (size_t i = 0; i < type.dims->size(); ++i) {
      const Dim& dim = (*type.dims)[i];
      if (dim.is_unknown() && result) Refuse(value, "its extent " + std::to_string(i) + " is not known before a run");
      text += (i ? ", " : "") + (dim.symbol.empty() ? dim.str() : names_.Dim(dim.symbol));
    }
    return text + "]" + (on_host ? " @cpu" : "");
  }
};

}  // namespace

std::string DeriveSignature(const ResolvedPlan& resolved) { return Deriver(resolved).Run(); }

std::string GetTargetKind(const Program& program) {
  std::vector<ValueId> values = program.params;
  for (const Result& result : program.results) values.push_back(result.value);
  for (const ValueId value : values) {
    const VirtualDevice& device = program.values[value].device;
    const bool tensor = program.values[value].type.is_tensor();
    if (tensor && device.target() && device.device_type() != KP_DEVICE_CPU) return device.target()->kind().name();
  }
  return "";
}

void CheckNames(const std::string& module, const std::string& name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto lower = [&](char c) { return (c >= 'a' && c <= 'z') || c == '_' || digit(c); };
  const auto any = [&](char c) { return lower(c) || (c >= 'A' && c <= 'Z') || c == '.'; };
  if (module.empty() || digit(module[0]) || module[0] == '.' || !std::all_of(module.begin(), module.end(), any)) {
    KP_THROW(ValueError) << "module '" << module << "': expected a name like [A-Za-z_][A-Za-z0-9_.]*";
  }
  if (name.empty() || digit(name[0]) || !std::all_of(name.begin(), name.end(), lower)) {
    KP_THROW(ValueError) << "module '" << module << "': expected a program named in lower case, [a-z_][a-z0-9_]*, got '"
                         << name << "'";
  }
}

}  // namespace kernpack::sdk::program
