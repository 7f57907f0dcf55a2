#include "codegen/device/imported.h"

#include <kernpack/error.h>
#include <kernpack/sdk/ir/visitor.h>

#include <set>

#include "codegen/register.h"

namespace kernpack::sdk {
namespace {

// Finds what functions launch, through the functions that they call.
class Launched : public ir::Visitor {
 public:
  explicit Launched(const ir::IRModule& module) : module_(module) {}

  std::set<std::string> names;

  void VisitStmt(const ir::Stmt& s) override {
    if (s->kind == ir::StmtKind::kCall && names.insert(s->name).second) VisitBlock(module_.Find(s->name)->body);
    ir::Visitor::VisitStmt(s);
  }

 private:
  const ir::IRModule& module_;
};

// An image of each target that the function has kernels for.
std::vector<size_t> GetVariants(const ir::FuncNode& f, const ImportedModule& imported) {
  Launched launched(imported.module);
  launched.VisitBlock(f.body);
  std::vector<size_t> variants;
  std::set<std::string> targets;
  for (const ir::ImportedKernel& k : imported.kernels) {
    const bool is_new = launched.names.count(k.function) && targets.insert(imported.images[k.image].target).second;
    if (is_new) variants.push_back(k.image);
  }
  if (variants.empty()) KP_THROW(ValueError) << f.name << ": launches no imported kernel";
  return variants;
}

template <class Make>
auto WithCode(const ImportedModule& imported, const Target& target, Make make) {
  const HostHalf* const host = HostOfImports();
  if (!host) {
    KP_THROW(RuntimeError)
        << "imported kernels need the generator of kind llvm for the functions that launch them, and this SDK is "
           "built without LLVM; install kernpack-compiler";
  }
  for (const ir::ImportedKernel& k : imported.kernels) {
    if (k.image >= imported.images.size()) KP_THROW(ValueError) << k.entry << ": there is no image " << k.image;
  }
  const ir::DeviceModule module(imported.module, imported.kernels);
  CheckDeviceFunctions(module.module());
  ir::CompiledDevice code{target.kind().name().c_str(), target.device_type(), module, imported.images};
  for (const ir::PrimFunc& f : module.module().functions) {
    if (!f->is_private) code.variants[f->name] = GetVariants(*f, imported);
  }
  return make(*host, code);
}

}  // namespace

Generated BuildImported(const ImportedModule& imported, const Target& target) {
  return WithCode(imported, target,
                  [&](const HostHalf& host, const ir::CompiledDevice& code) { return host.build(code, target); });
}

void ExportImported(const ImportedModule& imported, const Target& target, const std::string& path) {
  WithCode(imported, target, [&](const HostHalf& host, const ir::CompiledDevice& code) {
    host.export_library(code, target, path);
    return true;
  });
}

}  // namespace kernpack::sdk
