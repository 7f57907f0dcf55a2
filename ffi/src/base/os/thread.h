// Threads as the operating system knows them: their end, names, numbers, signals and processors. A system has its own sources in a folder
// of its name.
#ifndef KERNPACK_SRC_BASE_OS_THREAD_H_
#define KERNPACK_SRC_BASE_OS_THREAD_H_

#include <cstdint>
#include <string>

namespace kernpack::host::os {

// A value per thread, and a function that gets it when the thread ends. Unlike a thread_local object's destructor, the function doesn't
// run for the main thread when the process ends. Never destroyed: threads may end later than static objects.
class ThreadValue {
 public:
  explicit ThreadValue(void (*at_end)(void* value)) noexcept;
  void* Get() const noexcept;
  // NULL: the function isn't called for this thread.
  void Set(void* value) const noexcept;

 private:
  uintptr_t key_;
};

// Tells threads apart while they run; another thread may get the number of one that has ended.
uintptr_t GetThreadIdentity() noexcept;

// The thread's number and name as the system's tools print them.
int64_t GetThreadNumber() noexcept;
std::string GetThreadName();
void NameThread(const char* name) noexcept;

int64_t GetProcessNumber() noexcept;

// The functions run before a fork, and after it in the parent and in the child. A system that can't fork ignores them.
void AtFork(void (*prepare)(), void (*parent)(), void (*child)()) noexcept;

// Lets other threads run.
void Yield() noexcept;

// Threads that are started meanwhile don't receive signals: those go to the program's own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept;
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked();

 private:
  [[maybe_unused]] alignas(8) unsigned char before_[128];  // the system's own type
};

}  // namespace kernpack::host::os

#endif  // KERNPACK_SRC_BASE_OS_THREAD_H_
