// A library under the name of one of NVIDIA's: libcuda.so.1, libcudart.so.13,
// libcudart.so.12 or libnvidia-ml.so.1. Its functions jump to those of the
// emulated device's library. A function that isn't there says its name and returns an error.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include KP_DROP_IN_LIST

namespace {

#define KP_DROP_IN_TEXT_(name) #name,
constexpr const char* kNames[] = {KP_DROP_IN_NAMES(KP_DROP_IN_TEXT_)};
constexpr size_t kCount = sizeof kNames / sizeof kNames[0];

// The number of a function in the list.
enum Index : int {
#define KP_DROP_IN_INDEX_(name) kIndex_##name,
  KP_DROP_IN_NAMES(KP_DROP_IN_INDEX_)
};

using Entry = void (*)();
void (*missing)(const char*) = nullptr;

#ifndef KP_DROP_IN_NOT_SUPPORTED
#define KP_DROP_IN_NOT_SUPPORTED 801  // in the driver's API and in the runtime's
#endif

template <int I>
int SayMissing() {
  if (missing != nullptr) missing(kNames[I]);
  return KP_DROP_IN_NOT_SUPPORTED;
}

}  // namespace

// Where the exported functions jump to.
extern "C" {
#define KP_DROP_IN_SLOT_(name)                                          \
  __attribute__((visibility("hidden"), used)) Entry kp_drop_in_##name = \
      reinterpret_cast<Entry>(&SayMissing<kIndex_##name>);
KP_DROP_IN_NAMES(KP_DROP_IN_SLOT_)
}

namespace {

#define KP_DROP_IN_ADDRESS_(name) &kp_drop_in_##name,
Entry* const kSlots[] = {KP_DROP_IN_NAMES(KP_DROP_IN_ADDRESS_)};

// The library of the emulated device, in the folder above this library's.
void* OpenEmulator() {
  char path[4096];
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&OpenEmulator), &self) == 0 || std::strlen(self.dli_fname) > 4000)
    return nullptr;
  // Links to this library don't count: the folder is the file's own.
  char* const real = realpath(self.dli_fname, nullptr);
  std::snprintf(path, sizeof path - 40, "%s", real != nullptr ? real : self.dli_fname);
  std::free(real);
  for (int i = 0; i < 2; ++i) {
    char* const slash = std::strrchr(path, '/');
    if (slash == nullptr) return nullptr;
    *slash = '\0';
  }
  std::strcat(path, "/libkernpack_cuda_emulator.so");
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

__attribute__((constructor)) void FindFunctions() {
  void* const library = OpenEmulator();
  if (library == nullptr) {
    const char* const why = dlerror();
    std::fprintf(stderr, "kernpack_cuda_emulator: the library of the emulated device can't be loaded: %s\n",
                 why != nullptr ? why : "its folder isn't known");
    return;
  }
  missing = reinterpret_cast<void (*)(const char*)>(dlsym(library, "kernpack_emulator_missing"));
  if (void* const tell = dlsym(library, "kernpack_emulator_dropped_in")) reinterpret_cast<void (*)()>(tell)();
  for (size_t i = 0; i < kCount; ++i) {
    if (void* const found = dlsym(library, kNames[i])) *kSlots[i] = reinterpret_cast<Entry>(found);
  }
}

}  // namespace

#if defined(__x86_64__)
#define KP_DROP_IN_JUMP_(name)                                                                   \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n jmp *kp_drop_in_" #name \
      "(%rip)\n"                                                                                 \
      ".size " #name ", .-" #name "\n");
#elif defined(__aarch64__)
#define KP_DROP_IN_JUMP_(name)                                                                        \
  asm(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n adrp x16, kp_drop_in_" #name \
      "\n ldr x16, [x16, :lo12:kp_drop_in_" #name "]\n br x16\n.size " #name ", .-" #name "\n");
#endif
KP_DROP_IN_NAMES(KP_DROP_IN_JUMP_)
