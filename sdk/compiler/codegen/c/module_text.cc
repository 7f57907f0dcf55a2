#include "codegen/c/module_text.h"

#include <kernpack/module.h>
#include <kernpack/sdk/codegen/signature.h>

#include <set>

#include "codegen/c/entry.h"
#include "codegen/c/module_table.h"
#include "codegen/c/prelude.h"

namespace kernpack::sdk::ir {
namespace {

// Callees before callers; the verifier has refused recursion.
std::vector<const FuncNode*> InCallOrder(const IRModule& module) {
  std::vector<const FuncNode*> order;
  std::set<const FuncNode*> seen;
  const std::function<void(const FuncNode*)> add = [&](const FuncNode* f) {
    if (!seen.insert(f).second) return;
    const std::function<void(const Block&)> callees = [&](const Block& block) {
      for (const Stmt& s : block) {
        if (s->kind == StmtKind::kCall) add(module.Find(s->name));
        callees(s->body);
        callees(s->otherwise);
      }
    };
    callees(f->body);
    order.push_back(f);
  };
  for (const PrimFunc& f : module.functions) add(f.get());
  return order;
}

std::string Info(const std::string& name, const char* kind, const std::string& target, const std::string& signature) {
  const auto line = [](const char* member, const std::string& text) {
    return text.empty() ? "" : std::string("    .") + member + " = " + CString(text) + ",\n";
  };
  return "\nstatic const KpFunctionInfo " + name +
         " = {\n    .struct_size = sizeof(KpFunctionInfo),\n    .kind = " + kind + ",\n" + line("target", target) +
         line("signature", signature) + "};\n";
}

class Entries {
 public:
  Entries(const ModuleParts& parts, Helpers* helpers, Names* functions)
      : parts_(parts), helpers_(*helpers), functions_(*functions) {}

  void Add(const FuncNode& f) {
    const std::string signature = SignatureOf(f), description = functions_.Fresh(f.name + "_description");
    text_ += WriteDescription(f, description);
    for (const CVariant& variant : parts_.variants) {
      const std::string entry = functions_.Fresh(f.name + "_entry"), info = functions_.Fresh(f.name + "_info");
      text_ += WriteEntry(f, {entry, functions_.Get(&f, f.name), description, variant.code}, &helpers_) +
               Info(info, "KP_DEF_FUNCTION", variant.target, signature);
      AddRow(f, entry, info);
    }
    if (f.gradient.empty()) return;
    const std::string info = functions_.Fresh(f.name + "_gradient");
    text_ += Info(info, "KP_DEF_GRADIENT", f.gradient, "");
    AddRow(f, "NULL", info);
  }

  std::string Text() const { return text_ + "\nstatic const KpFunctionDef kp_functions[] = {\n" + rows_ + "};\n"; }

 private:
  const ModuleParts& parts_;
  Helpers& helpers_;
  Names& functions_;
  std::string text_, rows_;

  void AddRow(const FuncNode& f, const std::string& entry, const std::string& info) {
    rows_ += "    {" + CString(f.name) + ", " + entry + ", &" + info + "},\n";
  }
};

}  // namespace

std::string WriteModule(const ModuleParts& parts) {
  const IRModule& module = parts.module;
  Helpers helpers(parts.dialect);
  Names functions(IsCWord);
  // Not by its name alone, which may be that of any function or macro of the C library ("isnan", "select").
  for (const PrimFunc& f : module.functions) functions.Define(f.get(), f->name + "_body");
  std::string bodies;
  for (const FuncNode* f : InCallOrder(module)) bodies += parts.body(*f, &helpers, &functions);
  Entries entries(parts, &helpers, &functions);
  for (const PrimFunc& f : module.functions) {
    if (!f->is_private) entries.Add(*f);
  }
  const std::string entry_text = entries.Text();  // they add helpers
  return "// Module " + module.name + ", generated from Kernpack's IR.\n#define KP_GENERATED_NAME " +
         CString(module.name) + "\n#define KP_GENERATED_VERSION \"1.0.0\"\n#define KP_GENERATED_SDK " +
         CString(KP_SDK_VERSION) + "\n" + kCHead + parts.runtime + helpers.Text() + bodies + entry_text + kModuleTable;
}

}  // namespace kernpack::sdk::ir
