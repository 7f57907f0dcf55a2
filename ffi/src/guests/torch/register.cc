// A loaded module's functions, registered with torch's dispatcher.
#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include <kernpack/host/signature.h>
#include <kernpack/host/torch.h>

#include "shared/bytes.h"
#include "base/fork.h"
#include "base/guard.h"
#include "base/leaked.h"
#include "guests/torch/op.h"

namespace kernpack::torch {

Op DescribeOp(const KpLoadedFunction* function) {
  Op op{function, {}, kp_sig_num_results(function->program), false};
  op.has_workspace = (kp_sig_props(function->program) & KP_PROP_WORKSPACE) != 0;
  for (int32_t i = 0; i < kp_sig_num_params(function->program); ++i) {
    KpSigParam param;
    kp_sig_param(function->program, i, &param);
    op.params.push_back({param.kind, param.flags});
  }
  return op;
}

namespace {

struct Names {
  host::ForkMutex mutex{host::LockRank::kBindings};
  std::map<std::string, std::string> by_digest;  // module digest to namespace
  std::set<std::string> taken;
};
constexpr const char* kSource = "kernpack";  // what torch names in its messages about registrations

// "kernpack_" and the module's name, which may begin so itself. That is for the first content of a name; later ones, and
// modules whose names come to the same, are told apart by their digest.
std::string ChooseNamespace(const Names& names, const KpLoadedModule* module) {
  const std::string prefix = "kernpack_";
  std::string name = kp_module_name(module);
  if (name.compare(0, prefix.size(), prefix) != 0) name.insert(0, prefix);
  std::replace(name.begin(), name.end(), '.', '_');
  if (names.taken.count(name)) name.append("_").append(kp_module_digest(module), 8);
  return name;
}

class Registration {
 public:
  Registration(const Shim& shim, const KpLoadedModule* module) : shim_(shim), module_(module) {}

  int Run(const char* ns) {
    if (shim_.aoti_torch_library_init_fragment(ns, kSource, 0, &definitions_) != 0 ||
        shim_.aoti_torch_library_init_impl(ns, "CPU", kSource, 0, &cpu_) != 0 ||
        shim_.aoti_torch_library_init_impl(ns, "CUDA", kSource, 0, &cuda_) != 0 ||
        shim_.aoti_torch_library_init_impl(ns, "CompositeExplicitAutograd", kSource, 0, &any_) != 0) {
      return RaiseTorchError(shim_, ns, "opening the namespace");
    }
    for (int32_t i = 0; i < kp_module_function_count(module_); ++i) {
      const KpLoadedFunction* function = kp_module_function_at(module_, i);
      if (function == nullptr) {  // its contract is refused, by name, where it is used; the others are operators
        kp_error_clear();
        continue;
      }
      if (function->program != nullptr && Add(function) != 0) return -1;
    }
    return 0;
  }

 private:
  int Add(const KpLoadedFunction* function) {
    auto* op = new Op(DescribeOp(function));  // until the process ends, as the operator
    const BoxedKernel stub = TakeStub(op);
    if (stub == nullptr) return -1;
    if (Define(*op, "", stub) != 0) return -1;
    return op->num_results > 0 ? Define(*op, "out", stub) : 0;
  }

  int Define(const Op& op, const char* overload, BoxedKernel stub) {
    const std::string schema = FormatSchema(op, overload);
    const std::string name = schema.substr(0, schema.find('('));
    const int rc = shim_.torch_library_def_with_tags != nullptr
                       ? DefineTagged(op, schema)
                       : shim_.aoti_torch_library_def(definitions_, schema.c_str());
    if (rc != 0 || shim_.torch_library_impl(cpu_, name.c_str(), stub, kTargetVersion) != 0 ||
        shim_.torch_library_impl(cuda_, name.c_str(), stub, kTargetVersion) != 0 ||
        (!HasTensor(op) && shim_.torch_library_impl(any_, name.c_str(), stub, kTargetVersion) != 0)) {
      return RaiseTorchError(shim_, op.function->name, ("registering the operator " + schema).c_str());
    }
    return 0;
  }

  // True if each call has a tensor, by whose device torch finds a kernel. A call without a tensor takes a kernel without a device.
  static bool HasTensor(const Op& op) {
    constexpr uint32_t kMayBeNone = KP_PARAM_LIST | KP_PARAM_OPTIONAL | KP_PARAM_SCALAR_OK;
    return std::any_of(op.params.begin(), op.params.end(), [](const Op::Param& param) {
      return param.kind == KP_PARAM_TENSOR && (param.flags & kMayBeNone) == 0;
    });
  }

  int DefineTagged(const Op& op, const std::string& schema) {
    int32_t tags[4];
    int32_t count = 0;
    const uint32_t props = kp_sig_props(op.function->program);
    const auto add = [&](int32_t (*tag)()) {
      if (tag != nullptr) tags[count++] = tag();
    };
    add(shim_.torch_tag_pt2_compliant_tag);
    add(shim_.torch_tag_needs_exact_strides);  // a compiler must not change a layout that the signature asks for
    if (!(props & KP_PROP_GRAPH_SAFE)) add(shim_.torch_tag_cudagraph_unsafe);
    if (!(props & KP_PROP_DETERMINISTIC)) add(shim_.torch_tag_nondeterministic_bitwise);
    return shim_.torch_library_def_with_tags(definitions_, schema.c_str(), tags, count);
  }

  const Shim& shim_;
  const KpLoadedModule* module_;
  Library definitions_ = nullptr, cpu_ = nullptr, cuda_ = nullptr, any_ = nullptr;
};

int Register(const KpLoadedModule* module, KpAny* out) {
  const Shim* shim = FindShim();
  if (shim == nullptr) return -1;
  Names& names = host::Leaked<Names>();
  const std::lock_guard lock(names.mutex);
  std::string& ns = names.by_digest[kp_module_digest(module)];
  if (ns.empty()) {
    const std::string name = ChooseNamespace(names, module);
    names.taken.insert(name);  // even if the rest fails: half of its names are torch's now
    if (Registration(*shim, module).Run(name.c_str()) != 0) return -1;
    ns = name;
  }
  return kp_string_new(host::Bytes(ns), out);
}

}  // namespace
}  // namespace kernpack::torch

int kp_torch_register(const KpLoadedModule* module, KpAny* out) {
  return kernpack::host::Guard("kp_torch_register", [&] { return kernpack::torch::Register(module, out); });
}
