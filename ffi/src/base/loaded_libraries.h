// Shared libraries: those that other people loaded into this process, those that the host opens, and what is found in them.
#ifndef KERNPACK_SRC_BASE_LOADED_LIBRARIES_H_
#define KERNPACK_SRC_BASE_LOADED_LIBRARIES_H_

#include <atomic>
#include <new>
#include <string>
#include <string_view>

#include <kernpack/loaded.h>

namespace kernpack::host {

// How many objects the dynamic linker has ever loaded: while it stands still, a library that was absent still is. About 50 ns.
unsigned long long LoadCount() noexcept;

// A handle on the first loaded object whose file name begins with `prefix` ("libgomp" finds "libgomp-24e2ab19.so.1.0.0"),
// kept in memory from now on; NULL when there is none. Loads nothing.
void* FindLoaded(std::string_view prefix) noexcept;

// The function or variable of that name in a library; NULL if it has none.
void* FindInLibrary(void* library, const char* name) noexcept;
// In the program itself, or a library that offers its names to all others; NULL where there is none, and always on Windows.
void* FindInProcess(const char* name) noexcept;

enum class Binding {
  kNow,
  kWhenCalled  // a function that is missing isn't an error until it's called
};
// Opens a library that is never closed, and offers its names to no other. NULL with the system's reason in *why.
void* OpenForGood(const char* path, Binding binding, std::string* why);

// The path of the library that this host is in; empty if the system doesn't tell.
std::string OwnPath();

// A T (functions of a library that other code may load, now or later) that is searched for until it is there, and again only when
// something was loaded since.
// Made at compile time (constinit); any thread, without a lock.
template <class T>
class LookedUp {
 public:
  // bool search(T*) fills it in; false when it is not there. NULL until then, or where there is no memory.
  template <class Search>
  const T* Get(Search search) noexcept {
    if (const T* found = found_.load(std::memory_order_acquire)) return found;
    const unsigned long long loads = LoadCount();
    if (absent_at_.load(std::memory_order_relaxed) == loads) return nullptr;
    T made{};
    if (!search(&made)) {
      absent_at_.store(loads, std::memory_order_relaxed);
      return nullptr;
    }
    const T* first = nullptr;
    const T* kept = new (std::nothrow) T(made);  // until the process ends; threads that race here agree on the first
    if (kept == nullptr || found_.compare_exchange_strong(first, kept, std::memory_order_acq_rel)) return kept;
    delete kept;
    return first;
  }

 private:
  std::atomic<const T*> found_{nullptr};
  std::atomic<unsigned long long> absent_at_{0};
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LOADED_LIBRARIES_H_
