#include "codegen/device/module.h"

#include <kernpack/error.h>
#include <kernpack/sdk/ir/pass.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>

#include "ir/stable_hash.h"
#include "codegen/device/launches.h"
#include "codegen/frame/launch.h"

namespace kernpack::sdk::ir {
namespace {

constexpr uint32_t kMostDims = 5;  // of a tensor map
constexpr size_t kTensorMapWords = sizeof(KpFrameTensorMap) / sizeof(uint32_t);

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

// Every launch of the block, outermost first.
void EachLaunch(const Block& block, const std::function<void(const StmtNode&)>& visit) {
  for (const Stmt& s : block) {
    if (s->kind == StmtKind::kLaunch) {
      visit(*s);
      continue;
    }
    EachLaunch(s->body, visit);
    EachLaunch(s->otherwise, visit);
  }
}

// A tensor map is of memory, and of arguments that are i64.
void CheckParameters(const ImportedKernel& k, const std::vector<KernelArgument>& arguments) {
  const auto check = [&](uint32_t i, bool memory) {
    const bool fits = i < arguments.size() && (arguments[i].kind == KernelArgument::kMemory) == memory &&
                      (memory || arguments[i].value->type == kI64);
    if (!fits) KP_THROW(ValueError) << k.entry << ": a tensor map can't be made of argument " << i;
  };
  for (const ImportedParameter& p : k.parameters) {
    if (p.argument >= arguments.size()) KP_THROW(ValueError) << k.entry << ": there is no argument " << p.argument;
    if (p.map.empty()) continue;
    if (p.map.size() != kTensorMapWords || p.map[0] < 1 || p.map[0] > kMostDims) {
      KP_THROW(ValueError) << k.entry << ": a tensor map of argument " << p.argument << " isn't understood";
    }
    check(p.argument, true);
    const uint32_t* extents = &p.map[kTensorMapWords - kMostDims - (kMostDims - 1)];
    for (uint32_t d = 0; d < p.map[0]; ++d) {
      check(extents[d], false);
      if (d != 0) check(extents[kMostDims + d - 1], false);
    }
  }
}

// The kernel that a launch's body calls, with what it is given.
Kernel ImportedBy(const StmtNode& launch, const IRModule& module, const std::vector<ImportedKernel>& kernels) {
  const bool calls = launch.body.size() == 1 && launch.body.front()->kind == StmtKind::kCall;
  if (!calls) KP_THROW(ValueError) << "a launch of an imported kernel holds one call and nothing else";
  const StmtNode& call = *launch.body.front();
  Kernel kernel{call.name, {}, {}, {}};
  auto buffer = call.buffers.begin();
  auto scalar = call.args.begin();
  for (const Param& p : module.Find(call.name)->params) {
    if (p.buffer) {
      kernel.arguments.push_back({KernelArgument::kMemory, {}, *buffer++});
    } else {
      kernel.arguments.push_back({KernelArgument::kScalar, {}, {}, 0, *scalar++});
    }
  }
  std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(kernel.imported),
               [&](const ImportedKernel& k) { return k.function == call.name; });
  if (kernel.imported.empty()) KP_THROW(ValueError) << "no imported kernel stands behind '" << call.name << "'";
  for (const ImportedKernel& k : kernel.imported) CheckParameters(k, kernel.arguments);
  return kernel;
}

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

DeviceModule::DeviceModule(const IRModule& module, const std::vector<ImportedKernel>& kernels)
    : module_(Lower(module)) {
  for (const PrimFunc& f : module_.functions) {
    EachLaunch(f->body, [&](const StmtNode& launch) { kernels_[&launch] = ImportedBy(launch, module_, kernels); });
  }
  module_.functions.erase(std::remove_if(module_.functions.begin(), module_.functions.end(),
                                         [&](const PrimFunc& f) {
                                           return std::any_of(
                                               kernels.begin(), kernels.end(),
                                               [&](const ImportedKernel& k) { return k.function == f->name; });
                                         }),
                          module_.functions.end());
  for (const ImportedKernel& k : kernels) {
    program_ += k.function + ": " + k.entry + " of image " + std::to_string(k.image);
    if (k.multiples) program_ += ", where those of the mask " + std::to_string(k.multiples) + " are multiples of 16";
    if (k.shared) program_ += ", shared " + std::to_string(k.shared);
    if (k.cluster[0]) {
      program_ += ", cluster";
      for (const uint32_t extent : k.cluster) program_ += " " + std::to_string(extent);
    }
    if (k.cooperative) program_ += ", cooperative";
    for (const ImportedParameter& p : k.parameters) {
      program_ += (&p == k.parameters.data() ? ", of arguments " : " ") + std::to_string(p.argument);
      if (!p.map.empty()) program_ += " (as a tensor map)";
    }
    program_ += "\n";
  }
}

bool DeviceModule::has_asserts() const {
  return std::any_of(kernels_.begin(), kernels_.end(), [](const auto& k) { return !k.second.asserts.empty(); });
}

}  // namespace kernpack::sdk::ir
