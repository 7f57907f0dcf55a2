#include "execute/module_parts.h"

#include <kernpack/error.h>
#include <kernpack/module.h>

#include <algorithm>

#include "codegen/c/module_table.h"
#include "codegen/c_family/spelling.h"
#include "execute/source_prelude.h"

namespace kernpack::sdk::program {
namespace {

using ir::CString;

std::string Number(uint64_t n) { return std::to_string(n); }

// A host scalar as an expression of type KpAny.
std::string ConstantText(const KpAny& value) {
  if (value.type_index == KP_TYPE_RAW_STR) return "kp_text(" + CString(value.v.v_c_str) + ")";
  return "kp_plain(" + std::to_string(value.type_index) + ", UINT64_C(" + Number(value.v.v_bits) + "))";
}

class Writer {
 public:
  explicit Writer(const ResolvedPlan& resolved) : resolved_(resolved) {}

  std::string Run(const std::string& module, const std::string& version) {
    const Program& entry = *resolved_.entry->program;
    CheckNames(module, entry.name);
    const std::string signature = DeriveSignature(resolved_);
    Write(*resolved_.entry);
    std::string names;
    for (const std::string& name : names_) names += "    " + CString(name) + ",\n";
    const std::string kind = GetTargetKind(entry);
    return "// Module " + module +
           ", a program of Kernpack's.\n#include <kernpack/device_api.h>\n#include "
           "<kernpack/host/modules.h>\n#include <stdbool.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include "
           "<string.h>\n\n"
           "#define KP_GENERATED_NAME " +
           CString(module) + "\n#define KP_GENERATED_VERSION " + CString(version) + "\n#define KP_GENERATED_SDK " +
           CString(KP_SDK_VERSION) + "\n#define KP_PROGRAM_FUNCTIONS " + Number(names_.size()) +
           "\n\n// What the program calls.\nstatic const char* const kp_names[] = {\n" + names + "    NULL};\n" +
           kSourcePrelude + bodies_ + Entry(entry, written_.size() - 1) +
           "\nstatic const KpFunctionInfo kp_info = {.struct_size = sizeof(KpFunctionInfo), .target = " +
           (kind.empty() ? "NULL" : CString(kind)) + ", .signature = " + CString(signature) +
           "};\nstatic const KpFunctionDef kp_functions[] = {{" + CString(entry.name) + ", kp_entry, &kp_info}};\n" +
           kSourceEpilogue + kModuleTable;
  }

 private:
  const ResolvedPlan& resolved_;
  std::vector<std::string> names_;  // of functions that are called
  std::vector<const ResolvedProgram*> written_;  // the number of a program is its place here
  std::string bodies_;

  [[noreturn]] static void Refuse(const Program& program, const Step& step, const char* why) {
    KP_THROW(NotImplementedError) << GetName(program, step) << ": " << why;
  }

  size_t FunctionNumber(const Program& program, const Step& step) {
    const auto function = std::find_if(resolved_.functions.begin(), resolved_.functions.end(),
                                       [&](const Function& each) { return each.name == step.callee; });
    if (function->qualified.empty()) {
      KP_THROW(ValueError) << GetName(program, step)
                           << ": the function belongs to no loaded module, so another process couldn't find it";
    }
    const auto known = std::find(names_.begin(), names_.end(), function->qualified);
    if (known == names_.end()) names_.push_back(function->qualified);
    return static_cast<size_t>(std::find(names_.begin(), names_.end(), function->qualified) - names_.begin());
  }

  // Programs that it invokes come before it.
  size_t Write(const ResolvedProgram& resolved) {
    const auto known = std::find(written_.begin(), written_.end(), &resolved);
    if (known != written_.end()) return static_cast<size_t>(known - written_.begin());
    const Program& program = *resolved.program;
    std::string steps;
    for (const ResolvedStep& step : resolved.steps) steps += WriteStep(resolved, step);
    const std::string count = Number(program.values.size());
    std::string body =
        "  Value v[" + Number(program.values.size() + 1) + "];\n  int rc = -1;\n  memset(v, 0, sizeof v);\n";
    for (size_t i = 0; i < program.params.size(); ++i) {
      body += "  v[" + Number(program.params[i]) + "].any = args[" + Number(i) + "];\n";
    }
    body += steps;
    for (size_t i = 0; i < program.results.size(); ++i) {
      body +=
          "  if (kp_give(self, &v[" + Number(program.results[i].value) + "], &out[" + Number(i) + "])) goto failed;\n";
    }
    const size_t number = written_.size();
    written_.push_back(&resolved);
    bodies_ += "\n// " + CString(program.name) +
               ". `out`: where results go, or None for new ones.\nstatic int kp_program_" + Number(number) +
               "(const KpInstance* self, const KpAny* args, KpAny* out) {\n" + body +
               "  rc = 0;\nfailed:\n  kp_drop_all(v, " + count + ");\n  return rc;\n}\n";
    return number;
  }

  static std::string Entry(const Program& program, size_t number) {
    const std::string params = Number(program.params.size());
    const std::string results = Number(program.results.size());
    return "\nstatic int kp_entry(void* self, const KpAny* args, int32_t count, KpAny* result) {\n  KpAny out[" +
           Number(program.results.size() + 1) + "];\n  (void)result;\n  if (count != " + params + " + " + results +
           ")\n    return kp_fail(((KpInstance*)self)->host, \"TypeError\", \"" + program.name + ": expected " +
           params + " arguments and " + results + " tensors for results\");\n  for (int i = 0; i < " + results +
           "; ++i) out[i] = args[" + params + " + i];\n  return kp_program_" + Number(number) +
           "(self, args, out);\n}\n";
  }

  static std::string List(const std::vector<ValueId>& values, size_t first = 0) {
    std::string list;
    for (size_t i = first; i < values.size(); ++i) list += (i > first ? ", v[" : "v[") + Number(values[i]) + "].any";
    return list;
  }

  // `call`, guarded: an error gets the step's name.
  static std::string Guarded(const Program& program, const Step& step, const std::string& call) {
    return "    if (" + call + ") {\n      kp_at(self, " + CString(GetName(program, step)) +
           ");\n      goto failed;\n    }\n";
  }

  // Outside of a block: the list is there as long as the program runs.
  static std::string WriteTuple(const Step& step) {
    const std::string id = Number(step.results[0]);
    return "  KpAny items" + id + "[] = {" + List(step.args) + (step.args.empty() ? "" : ", ") +
           "kp_none()};\n  KpSequenceObject list" + id + ";\n  v[" + id + "].any = kp_list(&list" + id + ", items" +
           id + ", " + Number(step.args.size()) + ");\n";
  }

  static std::string Pointers(const std::vector<ValueId>& values) {
    std::string list;
    for (const ValueId value : values) list += "&v[" + Number(value) + "], ";
    return "    Value* const results[] = {" + list + "NULL};\n";
  }

  std::string WriteCall(const ResolvedProgram& resolved, const ResolvedStep& step) {
    const Program& program = *resolved.program;
    const Step& s = *step.step;
    const std::string function = Number(FunctionNumber(program, s));
    const auto result_of = [&](ValueId value) { return resolved.values[value].result; };
    std::string args = List(s.args) + (s.args.empty() ? "" : ", ");
    for (const KpAny& value : step.call.defaults) args += ConstantText(value) + ", ";
    const std::string count = Number(s.args.size() + step.call.defaults.size());
    const std::string made =
        Pointers(s.results) + "    const KpAny a[] = {" + args + "kp_none()};\n" +
        Guarded(program, s,
                "kp_step(self, " + function + ", a, " + count + ", results, " + Number(s.results.size()) + ")");
    const bool all_wanted = !s.results.empty() && std::all_of(s.results.begin(), s.results.end(),
                                                              [&](ValueId value) { return result_of(value) >= 0; });
    if (!step.call.words || !all_wanted) return made;
    std::string given, wanted, taken;
    for (const ValueId value : s.results) {
      const std::string out = "out[" + Number(static_cast<uint64_t>(result_of(value))) + "]";
      given += (given.empty() ? "" : " && ") + out + ".type_index != KP_TYPE_NONE";
      wanted += out + ", ";
      taken += "    v[" + Number(value) + "].any = " + out + ";\n";
    }
    return "    if (" + given + ") {\n    const KpAny a[] = {" + args + wanted + "kp_none()};\n" +
           Guarded(program, s, "kp_into(self, " + function + ", a, " + count + " + " + Number(s.results.size()) + ")") +
           taken + "    } else {\n" + made + "    }\n";
  }

  std::string WriteInvoke(const ResolvedProgram& resolved, const ResolvedStep& step) {
    const Program& program = *resolved.program;
    const Step& s = *step.step;
    const bool is_if = s.kind == StepKind::kIf;
    const std::string args = List(s.args, is_if ? 1 : 0);
    std::string text = "    const KpAny a[] = {" + args + (args.empty() ? "" : ", ") + "kp_none()};\n    KpAny r[" +
                       Number(s.results.size() + 1) + "];\n    memset(r, 0, sizeof r);\n";
    std::string call = "kp_program_" + Number(Write(*step.then)) + "(self, a, r)";
    if (is_if) {
      text += "    bool yes = false;\n";
      call = "kp_is_true(self, &v[" + Number(s.args[0]) + "].any, &yes) || (yes ? " + call + " : kp_program_" +
             Number(Write(*step.otherwise)) + "(self, a, r))";
    }
    // Results from before the failure are freed with the values.
    text += "    const int bad = " + call + ";\n";
    for (size_t i = 0; i < s.results.size(); ++i) {
      const std::string value = "v[" + Number(s.results[i]) + "]";
      text += "    " + value + ".any = r[" + Number(i) + "];\n    " + value + ".owned = true;\n";
    }
    text += Guarded(program, s, "bad");
    return text;
  }

  std::string WriteStep(const ResolvedProgram& resolved, const ResolvedStep& step) {
    const Program& program = *resolved.program;
    const Step& s = *step.step;
    const std::string first = s.results.empty() ? "" : "v[" + Number(s.results[0]) + "]";
    std::string text = "  {  // " + CString(GetName(program, s)) + "\n";
    switch (s.kind) {
      case StepKind::kConstant:
        if (kp_is_object(&step.constant)) Refuse(program, s, "shapes as values cannot be exported");
        text += "    " + first + ".any = " + ConstantText(step.constant) + ";\n";
        break;
      case StepKind::kCall:
        text += WriteCall(resolved, step);
        break;
      case StepKind::kTuple:
        return WriteTuple(s);
      case StepKind::kTupleGet:
        text +=
            Guarded(program, s,
                    "kp_item(self, &v[" + Number(s.args[0]) + "].any, " + Number(s.index) + ", &" + first + ".any)");
        break;
      case StepKind::kIf:
      case StepKind::kInvoke:
        text += WriteInvoke(resolved, step);
        break;
      case StepKind::kCopy:
        Refuse(program, s, "the plan moves values between devices; a program on one device can be exported");
      case StepKind::kShapeOf:
        Refuse(program, s, "shapes as values cannot be exported");
    }
    for (const ValueId value : step.planned->frees) text += "    kp_drop(&v[" + Number(value) + "]);\n";
    return text + "  }\n";
  }
};

}  // namespace

std::string WriteSource(const ResolvedPlan& resolved, const std::string& module, const std::string& version) {
  return Writer(resolved).Run(module, version);
}

}  // namespace kernpack::sdk::program
