#include <atomic>

#include "base/os/windows/text.h"
// After it: <windows.h> has a macro Yield, which text.h takes away.
#include "base/os/thread.h"

namespace kernpack::host::os {
namespace {

// The functions that run when a thread ends. Not Windows' own fiber-local storage, whose functions run for the main thread, too, when the process
// ends.
struct AtEnd {
  std::atomic<void (*)(void*)> function{nullptr};
  DWORD slot = 0;
};
constexpr int kMostValues = 64;
constinit AtEnd g_ends[kMostValues];
constinit std::atomic<int> g_values{0};

// Windows 10 has them since 1607.
using GetDescription = HRESULT(WINAPI*)(HANDLE thread, PWSTR* text);
using SetDescription = HRESULT(WINAPI*)(HANDLE thread, PCWSTR text);

void EndThread() {
  // A function may set another value, as with pthreads.
  for (int round = 0; round < 4; ++round) {
    bool again = false;
    for (int i = 0; i < g_values.load(std::memory_order_acquire) && i < kMostValues; ++i) {
      const auto function = g_ends[i].function.load(std::memory_order_acquire);
      void* value = function != nullptr ? TlsGetValue(g_ends[i].slot) : nullptr;
      if (value == nullptr) continue;
      TlsSetValue(g_ends[i].slot, nullptr);
      function(value);
      again = true;
    }
    if (!again) return;
  }
}

}  // namespace

ThreadValue::ThreadValue(void (*at_end)(void* value)) noexcept : key_(TlsAlloc()) {
  const int place = g_values.fetch_add(1, std::memory_order_acq_rel);
  if (place >= kMostValues) __builtin_trap();  // a constant of the sources: no input leads here
  g_ends[place].slot = static_cast<DWORD>(key_);
  g_ends[place].function.store(at_end, std::memory_order_release);
}

void* ThreadValue::Get() const noexcept {
  const DWORD error = GetLastError();  // which TlsGetValue clears
  void* value = TlsGetValue(static_cast<DWORD>(key_));
  SetLastError(error);
  return value;
}

void ThreadValue::Set(void* value) const noexcept { TlsSetValue(static_cast<DWORD>(key_), value); }

uintptr_t GetThreadIdentity() noexcept { return GetCurrentThreadId(); }

int64_t GetThreadNumber() noexcept { return GetCurrentThreadId(); }

std::string GetThreadName() {
  static const auto get = FindKernelFunction<GetDescription>("GetThreadDescription");
  PWSTR text = nullptr;
  if (get == nullptr || get(GetCurrentThread(), &text) < 0 || text == nullptr) return {};
  std::string name = Utf8(text);
  LocalFree(text);
  return name;
}

void NameThread(const char* name) noexcept try {
  static const auto set = FindKernelFunction<SetDescription>("SetThreadDescription");
  if (set != nullptr) set(GetCurrentThread(), Wide(name).c_str());
} catch (...) {
  // no memory for a name: the thread goes without
}

int64_t GetProcessNumber() noexcept { return GetCurrentProcessId(); }

void AtFork(void (*)(), void (*)(), void (*)()) noexcept {}

void Yield() noexcept { SwitchToThread(); }

// Windows has no signals that a thread of ours could get.
SignalsBlocked::SignalsBlocked() noexcept = default;
SignalsBlocked::~SignalsBlocked() = default;

}  // namespace kernpack::host::os

// Windows calls it as each thread ends, but not for the main thread when the process does.
extern "C" BOOL WINAPI DllMain(HINSTANCE, DWORD reason, void*) {
  if (reason == DLL_THREAD_DETACH) kernpack::host::os::EndThread();
  return TRUE;
}
