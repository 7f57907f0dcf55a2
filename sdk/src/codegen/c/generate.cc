// A module as one C file: helpers, functions, their entries, the table.
#include <kernpack/error.h>
#include <kernpack/module.h>
#include <kernpack/sdk/codegen/c.h>
#include <kernpack/sdk/codegen/signature.h>
#include <kernpack/sdk/ir/pass.h>

#include <algorithm>
#include <functional>
#include <set>

#include "codegen/c/dialect.h"
#include "codegen/c/entry.h"
#include "codegen/c/frame_text.h"
#include "codegen/c/function.h"
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

void CheckModuleName(const std::string& name) {
  std::string plain = name;
  std::replace(plain.begin(), plain.end(), '.', '_');
  if (!IsIdentifier(plain)) {
    KP_THROW(ValueError) << "module '" << name << "': the name of a compiled module has letters, digits, _ and . only";
  }
}

std::string InfoOf(const FuncNode& f, const std::string& name) {
  return "\nstatic const KpFunctionInfo " + name +
         " = {\n    .struct_size = sizeof(KpFunctionInfo),\n    .kind = KP_DEF_FUNCTION,\n    .signature = " +
         CString(SignatureOf(f)) + ",\n};\n";
}

std::string GradientInfo(const FuncNode& f, const std::string& name) {
  return "static const KpFunctionInfo " + name +
         " = {\n    .struct_size = sizeof(KpFunctionInfo),\n    .kind = KP_DEF_GRADIENT,\n    .target = " +
         CString(f.gradient) + ",\n};\n";
}

}  // namespace

std::string GenerateC(const IRModule& input, int vector_bytes) {
  CheckModuleName(input.name);
  const IRModule module = SplitLocals(SplitVectors(Lower(NarrowLoops(input, vector_bytes)), vector_bytes));
  Helpers helpers(C99());
  Names functions(IsCWord);
  // Not by its name alone, which may be that of any function or macro of the C library ("isnan", "select").
  for (const PrimFunc& f : module.functions) functions.Define(f.get(), f->name + "_body");
  std::string bodies, entries, table;
  for (const FuncNode* f : InCallOrder(module)) bodies += CFunction(module, *f, &helpers, &functions).Write();
  for (const PrimFunc& f : module.functions) {
    if (f->is_private) continue;
    const std::string entry = functions.Fresh(f->name + "_entry"), info = functions.Fresh(f->name + "_info");
    const std::string description = functions.Fresh(f->name + "_description");
    entries += WriteDescription(*f, description) +
               WriteEntry(*f, {entry, functions.Get(f.get(), f->name), description}, &helpers) + InfoOf(*f, info);
    table += "    {" + CString(f->name) + ", " + entry + ", &" + info + "},\n";
    if (f->gradient.empty()) continue;
    const std::string gradient = functions.Fresh(f->name + "_gradient");
    entries += GradientInfo(*f, gradient);
    table += "    {" + CString(f->name) + ", NULL, &" + gradient + "},\n";
  }
  if (table.empty()) KP_THROW(ValueError) << "module '" << module.name << "' has no function that is not private";
  return "// Module " + module.name + ", generated from Kernpack's IR.\n#define KP_GENERATED_NAME " +
         CString(module.name) + "\n#define KP_GENERATED_VERSION \"1.0.0\"\n#define KP_GENERATED_SDK " +
         CString(KP_SDK_VERSION) + "\n" + kCHead + FrameText() + kCRuntime + helpers.Text() + bodies + entries +
         "\nstatic const KpFunctionDef kp_functions[] = {\n" + table + "};\n" + kModuleTable;
}

}  // namespace kernpack::sdk::ir
