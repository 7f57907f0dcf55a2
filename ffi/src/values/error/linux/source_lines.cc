#include "values/error/source_lines.h"

#ifdef KERNPACK_HAS_LIBBACKTRACE

#include <backtrace.h>
#include <link.h>

#include <atomic>
#include <new>
#include <string>

#include "values/error/loaded_object.h"

namespace kernpack::host {
namespace {

// An object of the process and what libbacktrace read of its file. Kept until the process ends: libbacktrace frees nothing.
struct Known {
  std::string path;
  std::string head;
  uintptr_t base;
  backtrace_state* state;  // NULL: the file is not what was loaded
  Known* next;
};

// No lock, which a fork() could leave held: threads that meet an object at the same time may each read it.
constinit std::atomic<Known*> g_known{nullptr};
// The base of the object that this thread has libbacktrace read.
constinit thread_local const uintptr_t* t_base = nullptr;

void IgnoreError(void*, const char*, int) {}
void IgnoreSymbol(void*, uintptr_t, const char*, uintptr_t, uintptr_t) {}

void Read(Known* known) noexcept {
  known->state = backtrace_create_state(known->path.c_str(), 1, IgnoreError, nullptr);
  if (known->state == nullptr) return;
  t_base = &known->base;
  backtrace_syminfo(known->state, 0, IgnoreSymbol, IgnoreError, nullptr);  // the first question has it read the file
  t_base = nullptr;
}

backtrace_state* GetState(const void* address) {
  LoadedObject object;
  if (!FindLoadedObject(address, &object)) return nullptr;
  for (const Known* known = g_known.load(std::memory_order_acquire); known; known = known->next) {
    // All three: an object that was unloaded may have left its place to another, or to a newer build of itself.
    if (known->base == object.base && known->path == object.path && known->head == object.Head()) return known->state;
  }
  auto* known = new Known{object.path, std::string(object.Head()), object.base, nullptr, nullptr};
  if (IsItsFile(object)) Read(known);
  known->next = g_known.load(std::memory_order_relaxed);
  while (!g_known.compare_exchange_weak(known->next, known, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return known->state;
}

struct Visitor {
  void (*visit)(void* data, const SourceLine& line);
  void* data;
  bool found;
};

int Tell(void* data, uintptr_t, const char* file, int line, const char* function) {
  auto* visitor = static_cast<Visitor*>(data);
  if (file == nullptr) return 0;
  visitor->found = true;
  visitor->visit(visitor->data, {function, file, line});
  return 0;
}

void NoteSymbol(void* data, uintptr_t, const char* name, uintptr_t begin, uintptr_t) {
  *static_cast<Symbol*>(data) = {name, begin};
}

}  // namespace

bool VisitSourceLines(const void* address, void (*visit)(void* data, const SourceLine& line), void* data) noexcept try {
  Visitor visitor{visit, data, false};
  if (backtrace_state* state = GetState(address)) {
    backtrace_pcinfo(state, reinterpret_cast<uintptr_t>(address), Tell, IgnoreError, &visitor);
  }
  return visitor.found;
} catch (const std::bad_alloc&) {
  return false;
}

Symbol FindSymbol(const void* address) noexcept try {
  Symbol symbol{nullptr, 0};
  if (backtrace_state* state = GetState(address)) {
    backtrace_syminfo(state, reinterpret_cast<uintptr_t>(address), NoteSymbol, IgnoreError, &symbol);
  }
  return symbol;
} catch (const std::bad_alloc&) {
  return {nullptr, 0};
}

}  // namespace kernpack::host

// libbacktrace calls this function instead of dl_iterate_phdr (cmake/libbacktrace.cmake). It visits one object, whose file
// libbacktrace has opened; therefore the name is empty.
extern "C" __attribute__((visibility("hidden"))) int kernpack_backtrace_object(int (*visit)(dl_phdr_info*, size_t,
                                                                                            void*),
                                                                               void* data) {
  if (kernpack::host::t_base == nullptr) return 0;
  dl_phdr_info info{};
  info.dlpi_addr = *kernpack::host::t_base;
  info.dlpi_name = "";
  return visit(&info, sizeof info, data);
}

#else

namespace kernpack::host {

bool VisitSourceLines(const void*, void (*)(void*, const SourceLine&), void*) noexcept { return false; }
Symbol FindSymbol(const void*) noexcept { return {nullptr, 0}; }

}  // namespace kernpack::host

#endif
