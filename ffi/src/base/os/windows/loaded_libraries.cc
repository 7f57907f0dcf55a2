#include "base/loaded_libraries.h"

#include <atomic>

#include "base/os/windows/text.h"

// psapi.h's own names for these functions are in kernel32.dll.
#include <psapi.h>

namespace kernpack::host {
namespace {

// ntdll.dll tells of every library that is loaded; <winternl.h> doesn't declare it.
using LoadNotice = void(CALLBACK*)(ULONG reason, const void* data, void* context);
using RegisterNotice = LONG(NTAPI*)(ULONG flags, LoadNotice notice, void* context, void** cookie);

constinit std::atomic<unsigned long long> g_loads{1};

void CALLBACK CountLoad(ULONG, const void*, void*) { g_loads.fetch_add(1, std::memory_order_relaxed); }

bool CountsLoads() {
  const auto listen = reinterpret_cast<RegisterNotice>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "LdrRegisterDllNotification")));
  void* cookie = nullptr;
  return listen != nullptr && listen(0, &CountLoad, nullptr, &cookie) == 0;
}

std::string PathOf(HMODULE module) {
  std::wstring path(32768, L'\0');
  path.resize(GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size())));
  return os::Utf8(path);
}

}  // namespace

unsigned long long LoadCount() noexcept {
  static const bool counts = CountsLoads();
  // Where Windows tells nothing, every look is a new search.
  return counts ? g_loads.load(std::memory_order_relaxed) : g_loads.fetch_add(1, std::memory_order_relaxed);
}

void* FindLoaded(std::string_view prefix) noexcept try {
  HMODULE all[2048];
  DWORD bytes = 0;
  if (!K32EnumProcessModules(GetCurrentProcess(), all, sizeof all, &bytes)) return nullptr;
  const size_t count = std::min<size_t>(bytes, sizeof all) / sizeof(HMODULE);
  for (size_t i = 0; i < count; ++i) {
    const std::string path = PathOf(all[i]);
    if (!std::string_view(path).substr(path.rfind('\\') + 1).starts_with(prefix)) continue;
    HMODULE kept = nullptr;
    if (GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN, os::Wide(path).c_str(), &kept)) return kept;
  }
  return nullptr;
} catch (...) {
  return nullptr;  // no memory for a path
}

void* FindInLibrary(void* library, const char* name) noexcept {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

void* FindInProcess(const char*) noexcept { return nullptr; }

// Windows looks for every function when it loads a library.
void* OpenForGood(const char* path, Binding, std::string* why) {
  const std::wstring wide = os::WidePath(path);
  const bool absolute = wide.size() > 2 && (wide[1] == L':' || (wide[0] == L'\\' && wide[1] == L'\\'));
  const DWORD flags = absolute ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS : 0;
  HMODULE library = LoadLibraryExW(wide.c_str(), nullptr, flags);
  if (library == nullptr) {
    *why = os::ErrorText(GetLastError());
    return nullptr;
  }
  HMODULE kept = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                     reinterpret_cast<const wchar_t*>(library), &kept);
  return library;
}

std::string OwnPath() {
  constexpr DWORD kFlags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  HMODULE own = nullptr;
  return GetModuleHandleExW(kFlags, reinterpret_cast<const wchar_t*>(&OwnPath), &own) ? PathOf(own) : std::string();
}

}  // namespace kernpack::host
