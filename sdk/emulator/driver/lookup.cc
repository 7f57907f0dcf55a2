// The exported functions of the library: cuGetProcAddress_v2, which returns the entries, and the entries by the names by which programs
// link them.
#include <unistd.h>

#include <cstring>

#include "driver/findings.h"
#include "driver/machine.h"

namespace kernpack::cuda {
namespace {

enum Index : int {
#define KP_EMULATOR_INDEX_(name, version, parameters) kIndex_##name,
  KP_EMULATOR_ENTRIES(KP_EMULATOR_INDEX_)
#undef KP_EMULATOR_INDEX_
};

constexpr const char* kEntryNames[] = {
#define KP_EMULATOR_NAME_(name, version, parameters) #name,
    KP_EMULATOR_ENTRIES(KP_EMULATOR_NAME_)
#undef KP_EMULATOR_NAME_
};

// Faults first: what an entry answers instead of working.
Result Before(Index index) {
  Machine& machine = Machine::Get();
  const char* name = kEntryNames[index];
  if (machine.exiting) {  // a call after main(), which our tests must not make
    if (!machine.dropped_in) _exit(86);
    return kDeinitialized;
  }
  ++machine.calls[name];
  const bool anywhere =
      index == kIndex_cuDriverGetVersion || index == kIndex_cuGetErrorName || index == kIndex_cuGetErrorString;
  if (machine.initialised && machine.owner != getpid()) {
    ++machine.child_calls;
    if (anywhere) return kSuccess;
    machine.reports[kNotInitialized] =
        "this process was forked from one that had called cuInit, and can't use the device: start it before the first "
        "call, or start it anew (the method spawn of multiprocessing)";
    return kNotInitialized;
  }
  if (!machine.initialised && !anywhere && index != kIndex_cuInit) return kNotInitialized;
  const auto fault = machine.faults.find(name);
  if (fault == machine.faults.end() || fault->second.times == 0) return kSuccess;
  if (fault->second.skip > 0) {
    --fault->second.skip;
    return kSuccess;
  }
  --fault->second.times;
  return fault->second.result;
}

template <int I, class F>
struct Door;

template <int I, class... A>
struct Door<I, Result(A...)> {
  template <Result (*Entry)(A...)>
  static Result Call(A... arguments) {
    const std::lock_guard lock(Machine::Get().mutex);
    const Result refused = Before(static_cast<Index>(I));
    return refused == kSuccess ? Entry(arguments...) : refused;
  }
};

struct Address {
  const char* name;
  int version;
  void* entry;
};

const Address kAddresses[] = {
#define KP_EMULATOR_ADDRESS_(name, version, parameters) \
  {#name, version, reinterpret_cast<void*>(&Door<kIndex_##name, decltype(name)>::template Call<&name>)},
    KP_EMULATOR_ENTRIES(KP_EMULATOR_ADDRESS_)
#undef KP_EMULATOR_ADDRESS_
};

// Functions that have other parameters since a version; the newest first.
struct NewerForm {
  const char* name;
  int version;
  const char* entry;
};
constexpr NewerForm kNewerForms[] = {
    {"cuCtxCreate", 12050, "cuCtxCreate_v4"},
    {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
    {"cuGraphAddDependencies", 12030, "cuGraphAddDependencies_v2"},
};

}  // namespace

// Where the exported names jump to.
extern "C" {
#define KP_EMULATOR_SLOT_(name, version, parameters)                                         \
  using Pointer_##name = Result(*) parameters;                                               \
  __attribute__((visibility("hidden"))) extern const Pointer_##name kp_emulator_slot_##name; \
  __attribute__((used)) const Pointer_##name kp_emulator_slot_##name =                       \
      &Door<kIndex_##name, decltype(name)>::template Call<&name>;
KP_EMULATOR_ENTRIES(KP_EMULATOR_SLOT_)
#undef KP_EMULATOR_SLOT_
}
}  // namespace kernpack::cuda

// `symbol` is the name of the entry `name` in a program's object file: that of cuda.h, with the suffix that its macros add. A jump, since
// a macro that knows the parameters as a list of declarations can't hand them on.
#if defined(__x86_64__)
#define KP_EMULATOR_JUMP(symbol, name)                                                                       \
  asm(".text\n.globl " #symbol "\n.type " #symbol ", @function\n" #symbol ":\n jmp *kp_emulator_slot_" #name \
      "(%rip)\n"                                                                                             \
      ".size " #symbol ", .-" #symbol "\n");
#elif defined(__aarch64__)
#define KP_EMULATOR_JUMP(symbol, name)                                                                            \
  asm(".text\n.globl " #symbol "\n.type " #symbol ", %function\n" #symbol ":\n adrp x16, kp_emulator_slot_" #name \
      "\n ldr x16, [x16, :lo12:kp_emulator_slot_" #name "]\n br x16\n.size " #symbol ", .-" #symbol "\n");
#endif
#ifdef KP_EMULATOR_JUMP
#define KP_EMULATOR_JUMP_(name, version, parameters) KP_EMULATOR_JUMP(name, name)
KP_EMULATOR_ENTRIES(KP_EMULATOR_JUMP_)
#undef KP_EMULATOR_JUMP_
KP_EMULATOR_SUFFIXED_NAMES(KP_EMULATOR_JUMP)
#endif

using namespace kernpack::cuda;

extern "C" __attribute__((visibility("default"))) Result kernpack::cuda::cuGetProcAddress_v2(
    const char* name, void** out, int version, unsigned long long /*flags*/, ProcAddressStatus* status) {
  Machine& machine = Machine::Get();
  const std::lock_guard lock(machine.mutex);
  *out = nullptr;
  ProcAddressStatus unread;
  if (status == nullptr) status = &unread;  // callers may leave it out
  *status = kProcNotFound;
  if (machine.hidden.count(name) != 0) return kNotFound;
  for (const NewerForm& newer : kNewerForms) {
    if (std::strcmp(newer.name, name) != 0 || newer.version > version) continue;
    name = newer.entry;
    break;
  }
  for (const Address& address : kAddresses) {
    if (std::strcmp(address.name, name) != 0) continue;
    if (address.version > version || address.version > machine.Setting("driver_version")) {
      *status = kProcVersionNotSufficient;
      return kNotFound;
    }
    *out = address.entry;
    *status = kProcFound;
    return kSuccess;
  }
  AddMissing(name, false);
  return kNotFound;
}
