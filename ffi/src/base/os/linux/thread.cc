#include "base/os/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

namespace kernpack::host::os {
namespace {

pthread_key_t Key(uintptr_t key) noexcept { return static_cast<pthread_key_t>(key); }

}  // namespace

ThreadValue::ThreadValue(void (*at_end)(void* value)) noexcept {
  pthread_key_t made{};
  pthread_key_create(&made, at_end);
  key_ = made;
}

void* ThreadValue::Get() const noexcept { return pthread_getspecific(Key(key_)); }

void ThreadValue::Set(void* value) const noexcept { pthread_setspecific(Key(key_), value); }

uintptr_t GetThreadIdentity() noexcept { return static_cast<uintptr_t>(pthread_self()); }

int64_t GetThreadNumber() noexcept { return syscall(SYS_gettid); }

std::string GetThreadName() {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  return name;
}

void NameThread(const char* name) noexcept { pthread_setname_np(pthread_self(), name); }

int64_t GetProcessNumber() noexcept { return getpid(); }

void AtFork(void (*prepare)(), void (*parent)(), void (*child)()) noexcept { pthread_atfork(prepare, parent, child); }

void Yield() noexcept { sched_yield(); }

SignalsBlocked::SignalsBlocked() noexcept {
  static_assert(sizeof(sigset_t) <= sizeof before_ && alignof(sigset_t) <= 8);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, new (before_) sigset_t);
}

SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, reinterpret_cast<sigset_t*>(before_), nullptr); }

}  // namespace kernpack::host::os
