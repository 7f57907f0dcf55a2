// Replacements for functions of the C++ library. Only in the object that is linked into exported modules, which need no C++ library: its
// symbols are made local there (CMakeLists.txt).
#include <pthread.h>

#include <cstdlib>
#include <new>

// Nothing here can throw. Who asks for memory without std::nothrow could not go on without it.
void* operator new(size_t size) {
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace std {
const nothrow_t nothrow{};
}

// The first use of a local static, by one thread while others wait.
namespace {
pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
}
extern "C" int __cxa_guard_acquire(char* guard) {
  pthread_mutex_lock(&g_lock);
  if (!__atomic_load_n(guard, __ATOMIC_ACQUIRE)) return 1;
  pthread_mutex_unlock(&g_lock);
  return 0;
}
extern "C" void __cxa_guard_release(char* guard) {
  __atomic_store_n(guard, 1, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&g_lock);
}
