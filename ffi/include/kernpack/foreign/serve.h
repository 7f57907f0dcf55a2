// Answers a call of an alias: the module's instance for foreign hosts, the choice of a variant, the checks.
#ifndef KERNPACK_FOREIGN_SERVE_H_
#define KERNPACK_FOREIGN_SERVE_H_

#include <kernpack/call_device.h>
#include <kernpack/foreign/alias.h>
#include <kernpack/foreign/cpu_level.h>
#include <kernpack/foreign/host.h>
#include <kernpack/foreign/lock.h>
#include <kernpack/foreign/workspace.h>
#include <kernpack/module.h>
#include <kernpack/signature/policy.h>

extern "C" {
// The instance that serves every alias of this module, made by the first call of any.
KP_HIDDEN inline KpInstance* KP_PER_MODULE(kp_foreign_instance) = nullptr;
KP_HIDDEN inline KpForeignMutex KP_PER_MODULE(kp_foreign_lock);
}

KP_NAMESPACE_BEGIN
namespace detail {

KP_COLD inline KpInstance* make_foreign_instance() {
  ForeignState* state = static_cast<ForeignState*>(::operator new(sizeof(ForeignState), std::nothrow));
  if (!state) return nullptr;
  __builtin_memset(static_cast<void*>(state), 0, sizeof(ForeignState));
  fill_foreign_table(&state->table);
  state->peer.find();
  new (&state->lock) KpForeignMutex;
  new (&state->made) ForeignCondition;
  KpInstance* self = nullptr;
  if (make_instance(&state->table, state, &self))
    return nullptr;  // KP_MODULE_INIT has raised; the next call tries again
  return self;
}

// NULL when KP_MODULE_INIT failed, its error raised.
KP_COLD inline KpInstance* foreign_instance_slow() {
  ForeignLock lock(&KP_PER_MODULE(kp_foreign_lock));
  KpInstance* self = KP_PER_MODULE(kp_foreign_instance);
  if (!self) {
    self = make_foreign_instance();
    __atomic_store_n(&KP_PER_MODULE(kp_foreign_instance), self, __ATOMIC_RELEASE);
  }
  return self;
}

// How well a variant's target fits: -1 not at all, else higher is more specific. The matcher of targets is in the host library,
// which is not there when an alias serves; an alias knows the CPU levels and a device kind's plain name ("cuda"), and no_variant
// says so.
KP_COLD inline int target_rank(const char* target, int32_t device_type) {
  if (!target) return 0;
  constexpr char kLevel[] = "llvm -mcpu=x86-64-v";
  constexpr size_t kPrefix = sizeof(kLevel) - 1;
  if (device_type == KP_DEVICE_CPU) {
    if (__builtin_strncmp(target, kLevel, kPrefix) || target[kPrefix] < '2' || target[kPrefix] > '4') return -1;
    const int level = target[kPrefix] - '0';
    return target[kPrefix + 1] == 0 && level <= cpu_level() ? level : -1;
  }
  if (device_type == KP_DEVICE_CUDA && !__builtin_strcmp(target, "cuda")) return 1;
  if (device_type == KP_DEVICE_OPENCL && !__builtin_strcmp(target, "opencl")) return 1;
  if (device_type == KP_DEVICE_ROCM && !__builtin_strcmp(target, "rocm")) return 1;
  return -1;
}

// The difference between the pointers of the function table and the link-time addresses that stand in their place in a table that the
// dynamic linker doesn't relocate (docs/abi.md); 0 in other tables. The module's table is told after the link, so the compiler must not
// take what it compiled for what is there. KP_TABLE_HAS_POINTERS: in generated modules, whose tables are never changed.
inline uintptr_t table_shift() {
#ifdef KP_TABLE_HAS_POINTERS
  return 0;
#else
  const KpModule& module = KP_PER_MODULE(kp_module_table);
  constexpr size_t kLast = sizeof(module.spare) / sizeof(module.spare[0]) - 1;
  const void* const linked = *static_cast<const void* const volatile*>(&module.spare[kLast]);
  return linked ? reinterpret_cast<uintptr_t>(&module) - reinterpret_cast<uintptr_t>(linked) : 0;
#endif
}

// A pointer of the table, which isn't NULL.
template <class T>
T placed(T pointer, uintptr_t shift) {
  return reinterpret_cast<T>(reinterpret_cast<uintptr_t>(pointer) + shift);
}

KP_COLD inline const KpFunctionDef* pick_variant(const char* name, int32_t device_type) {
  const KpFunctionDef* best = nullptr;
  int best_rank = -1;
  const KpModule& module = KP_PER_MODULE(kp_module_table);
  const uintptr_t shift = table_shift();
  for (const KpFunctionDef* def = module.functions; def != module.functions_end; ++def) {
    if (!def->call || __builtin_strcmp(placed(def->name, shift), name)) continue;
    const KpFunctionInfo* info = def->info ? placed(def->info, shift) : nullptr;
    const int rank = target_rank(info && info->target ? placed(info->target, shift) : nullptr, device_type);
    if (rank > best_rank) {
      best = def;
      best_rank = rank;
    }
  }
  return best;
}

// The variant for a device, or NULL when none fits.
inline const KpFunctionDef* variant_of(KpAlias* alias, int32_t device_type) {
  if (device_type != KP_DEVICE_CPU) return pick_variant(alias->name, device_type);
  const KpFunctionDef* def = __atomic_load_n(&alias->on_cpu, __ATOMIC_RELAXED);
  if (KP_UNLIKELY(!def)) {
    def = pick_variant(alias->name, device_type);
    __atomic_store_n(&alias->on_cpu, def, __ATOMIC_RELAXED);
  }
  return def;
}

// The instance that serves the aliases, or NULL with an error raised.
inline KpInstance* foreign_instance() {
  KpInstance* self = __atomic_load_n(&KP_PER_MODULE(kp_foreign_instance), __ATOMIC_ACQUIRE);
  return KP_LIKELY(self != nullptr) ? self : foreign_instance_slow();
}

// The services of an alias for a checked call (signature/invoke.h).
struct AliasCall {
  KpAlias* alias;
  KpInstance* instance;

  const KpHost* host() const { return Instance::from(instance)->host; }
  static AliasCall& of(void* self) { return *static_cast<AliasCall*>(self); }

  static KP_COLD int raise(void* self, const char* kind, KpBytes text) {
    const KpHost* host = of(self).host();
    return host->raise(host, kp_bytes(kind), text, KpBytes{nullptr, 0});
  }
  static int resolve(void* self, KpDLDevice device, KpSafeCall* out_call, void** out_self) {
    AliasCall& call = of(self);
    const KpFunctionDef* def = variant_of(call.alias, device.device_type);
    if (KP_UNLIKELY(!def)) return no_variant(call, device);
    *out_call = placed(def->call, table_shift());
    *out_self = call.instance;
    return 0;
  }
  static KP_COLD int no_variant(const AliasCall& call, KpDLDevice device) {
    Text text;
    text << call.alias->name << ": this module has no variant for device " << device
         << " that an alias can pick (no target, x86-64-v2 to v4, a device kind without options); kernpack.load "
            "supports all variants";
    return raise(const_cast<AliasCall*>(&call), "RuntimeError", text.bytes());
  }
  static int alloc(void* self, const KpDLTensor* prototype, KpAny* out) {
    return foreign_tensor_alloc(of(self).host(), prototype, out);
  }
};

// The workspace that a signature asks for.
inline int alias_workspace(void* self, KpDLDevice device, uint64_t bytes, void** out_data) {
  AliasCall& call = AliasCall::of(self);
  Text key;
  key << "::signature::" << call.alias->name;
  return foreign_workspace(call.host(), key.bytes(), device, bytes, 0, out_data);
}

// A call under the alias's signature; `invoke` is signature::Invoke.
inline int serve_signed(KpAlias* alias, const KpAny* args, int32_t n, KpAny* result,
                        signature::InvokeFunction* invoke) noexcept {
  KpInstance* self = foreign_instance();
  if (KP_UNLIKELY(!self)) return -1;
  AliasCall call{alias, self};
  const signature::InvokePolicy policy = {&call, &AliasCall::raise, &AliasCall::resolve, &AliasCall::alloc,
                                          alias->workspace};
  return invoke(alias->program, alias->name, args, n, result, policy);
}

// A call of a function without one.
inline int serve_untyped(KpAlias* alias, const KpAny* args, int32_t n, KpAny* result) noexcept {
  KpInstance* self = foreign_instance();
  if (KP_UNLIKELY(!self)) return -1;
  AliasCall call{alias, self};
  KpSafeCall function = nullptr;
  void* instance = nullptr;
  if (AliasCall::resolve(&call, kp_call_device(args, n), &function, &instance)) return -1;
  return function(instance, args, n, result);
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_FOREIGN_SERVE_H_
