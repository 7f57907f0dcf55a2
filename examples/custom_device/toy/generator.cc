#include "generator.h"

#include <atomic>
#include <memory>
#include <utility>

#include "translate.h"

namespace toy {
namespace {

// An entry of a module's table is a plain function that is not told which one it is. So each generated function of the process
// gets one of these, with a function of its own to run it.
struct Slot {
  const KpHost* host;
  Kernel kernel;
};
constexpr size_t kSlots = 64;
std::atomic<size_t> g_used = 0;
Slot g_slots[kSlots];

// A generated module: its table, and what the table points to. It lives as long as the process.
struct Module {
  Translated text;
  std::vector<KpFunctionInfo> infos;
  std::vector<KpFunctionDef> functions;
  KpModule table{};
};

// The host checked the arguments against the signature: vectors of f32 of one length on the toy, and numbers.
void Call(const Slot& slot, const KpAny* args, int32_t count) {
  std::vector<KpKernelArg> given;
  std::vector<float> numbers(static_cast<size_t>(count));
  const KpDLTensor* out = kp_any_tensor(&args[count - 1]);
  for (int32_t i = 0; i < count; ++i) {
    const KpDLTensor* tensor = kp_any_tensor(&args[i]);
    float& number = numbers[static_cast<size_t>(i)];
    if (tensor == nullptr) number = static_cast<float>(args[i].v.v_float);
    given.push_back(tensor != nullptr ? KpKernelArg{KP_ARG_MEMORY, sizeof(float), tensor->data, tensor->byte_offset}
                                      : KpKernelArg{KP_ARG_VALUE, sizeof(float), &number, 0});
  }
  KpLaunch launch{};
  launch.struct_size = sizeof launch;
  launch.grid[0] = static_cast<uint32_t>(out->shape[0]);
  launch.grid[1] = launch.grid[2] = 1;
  launch.num_args = count;
  launch.args = given.data();
  if (out->shape[0] > 0) Run(slot.host, out->device, slot.kernel, launch);
}

// Errors end here: raised in the host.
template <class Body>
int Guarded(const KpHost* host, Body body) noexcept {
  try {
    body();
    return 0;
  } catch (const Error& error) {
    return host->raise(host, kp_bytes(error.kind()), kp_bytes(error.what()), KpBytes{});
  } catch (const std::exception& error) {
    return host->raise(host, kp_bytes("RuntimeError"), kp_bytes(error.what()), KpBytes{});
  }
}

template <size_t kIndex>
int Entry(void*, const KpAny* args, int32_t count, KpAny*) {
  const Slot& slot = g_slots[kIndex];
  return Guarded(slot.host, [&] { Call(slot, args, count); });
}
template <size_t... kIndex>
KpSafeCall GetEntry(size_t slot, std::index_sequence<kIndex...>) {
  constexpr KpSafeCall kEntries[] = {&Entry<kIndex>...};
  return kEntries[slot];
}

size_t TakeSlot(const KpHost* host, Kernel kernel) {
  const size_t slot = g_used++;
  if (slot >= kSlots) throw Error("RuntimeError", "this process has its 64 generated functions already");
  g_slots[slot] = {host, std::move(kernel)};
  return slot;
}

// The text of an object of type kernpack.ir.IRModule, whose body is a string's.
std::string_view GetText(const KpHost* host, const KpAny& module) {
  int32_t type_index = 0;
  if (host->type_index(host, kp_bytes("kernpack.ir.IRModule"), &type_index) != 0 || module.type_index != type_index) {
    throw Error("TypeError", "expected a kernpack.ir.IRModule as the first argument");
  }
  const KpBytes text = reinterpret_cast<const KpStrObject*>(module.v.v_obj)->bytes;
  return {text.data, text.size};
}

const KpModule* Generate(const KpHost* host, std::string_view text) {
  auto module = std::make_unique<Module>();
  module->text = Translate(text);
  const std::vector<Function>& functions = module->text.functions;
  for (const Function& function : functions) {
    KpFunctionInfo info{};
    info.struct_size = sizeof info;
    info.target = "toy";
    info.signature = function.signature.c_str();
    module->infos.push_back(info);
  }
  for (size_t i = 0; i < functions.size(); ++i) {
    const size_t slot = TakeSlot(host, Compile(functions[i].kernel).kernels.front());
    const KpSafeCall entry = GetEntry(slot, std::make_index_sequence<kSlots>());
    module->functions.push_back({functions[i].name.c_str(), entry, &module->infos[i]});
  }
  KpModule& table = module->table;
  table.struct_size = sizeof table;
  table.abi_version = KP_ABI_VERSION;
  table.min_host_abi = uint32_t{KP_ABI_MAJOR} << 16;
  table.name = module->text.module.c_str();
  table.version = "1.0.0";
  table.sdk_version = "toy";
  table.functions = module->functions.data();
  table.functions_end = table.functions + module->functions.size();
  return &module.release()->table;
}

}  // namespace

int Build(void* self, const KpAny* args, int32_t count, KpAny* result) {
  const auto* host = static_cast<const KpHost*>(self);
  return Guarded(host, [&] {
    if (count != 2) throw Error("TypeError", "expected an IR module and a target");
    result->v.v_ptr = const_cast<KpModule*>(Generate(host, GetText(host, args[0])));
    result->type_index = KP_TYPE_OPAQUE_PTR;
  });
}

}  // namespace toy
