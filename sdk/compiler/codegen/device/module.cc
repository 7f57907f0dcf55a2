#include "codegen/device/module.h"

#include <kernpack/sdk/ir/pass.h>

#include <algorithm>
#include <cstdio>

#include "ir/stable_hash.h"
#include "codegen/device/launches.h"

namespace kernpack::sdk::ir {
namespace {

// Writes the kernels of a function's launches.
class Kernels {
 public:
  Kernels(const FuncNode& f, const KernelDialect& dialect, Helpers* helpers, Names* names,
          std::unordered_map<const StmtNode*, Kernel>* kernels, bool checked)
      : f_(f),
        dialect_(dialect),
        helpers_(*helpers),
        names_(*names),
        kernels_(*kernels),
        ranges_(f),
        checked_(checked) {}

  // Their text.
  std::string Write() {
    Walk(f_.body);
    return text_;
  }

 private:
  const FuncNode& f_;
  const KernelDialect& dialect_;
  Helpers& helpers_;
  Names& names_;
  std::unordered_map<const StmtNode*, Kernel>& kernels_;
  Ranges ranges_;  // of what the host computes
  const bool checked_;
  std::string text_;

  void Walk(const Block& block) {
    for (const Stmt& s : block) {
      if (s->kind == StmtKind::kLaunch) {
        Launch(*s);
        continue;
      }
      if (s->kind == StmtKind::kLet) ranges_.Bind(*s);
      if (s->kind == StmtKind::kFor) ranges_.Count(*s);
      Walk(s->body);
      Walk(s->otherwise);
    }
  }

  void Launch(const StmtNode& launch) {
    KernelText kernel(f_, &helpers_, dialect_, ranges_, checked_);
    const std::string name = names_.Fresh(f_.name + "_kernel");
    text_ += kernel.Write(launch, name);
    kernels_[&launch] = {name, kernel.arguments(), kernel.asserts()};
  }
};

}  // namespace

uint64_t DeviceImage::digest() const { return DeviceCodeDigest(data.data(), data.size()); }

std::string DeviceImage::name() const {
  char text[20];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(digest()));
  return text;
}

DeviceModule::DeviceModule(const IRModule& module, const KernelDialect& dialect, int64_t width)
    : module_(Lower(module)) {
  Helpers helpers(dialect);
  Names names([&](std::string_view name) { return dialect.IsReserved(name); });
  std::string kernels;
  for (PrimFunc& f : module_.functions) {
    f = WithLaunches(*f, width);
    kernels += Kernels(*f, dialect, &helpers, &names, &kernels_, module_.checked).Write();
  }
  program_ = dialect.Prelude() + helpers.Text() + (has_asserts() ? dialect.Fail() : "") + kernels;
}

bool DeviceModule::has_asserts() const {
  return std::any_of(kernels_.begin(), kernels_.end(), [](const auto& k) { return !k.second.asserts.empty(); });
}

}  // namespace kernpack::sdk::ir
