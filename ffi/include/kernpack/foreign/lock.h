// A lock, a condition and the identity of a thread, for the services under a foreign host. The standard library's would need its shared
// library in C modules, and throw.
#ifndef KERNPACK_FOREIGN_LOCK_H_
#define KERNPACK_FOREIGN_LOCK_H_

#include <kernpack/config.h>
#if !defined(_WIN32)
#include <pthread.h>
#endif

#if defined(_WIN32)
// As kernpack/loaded.h, without <windows.h>. SRWLOCK and CONDITION_VARIABLE are pointers that begin as NULL.
extern "C" {
extern void(__stdcall* const kp_acquire_lock)(void** lock) __asm__("__imp_AcquireSRWLockExclusive");
extern void(__stdcall* const kp_release_lock)(void** lock) __asm__("__imp_ReleaseSRWLockExclusive");
extern int(__stdcall* const kp_sleep_condition)(void** condition, void** lock, unsigned long milliseconds,
                                                unsigned long flags) __asm__("__imp_SleepConditionVariableSRW");
extern void(__stdcall* const kp_wake_all)(void** condition) __asm__("__imp_WakeAllConditionVariable");
extern unsigned long(__stdcall* const kp_thread_id)(void) __asm__("__imp_GetCurrentThreadId");
}

// Outside the namespace of one instruction set: a module has one of them, whatever its sources are compiled for.
struct KpForeignMutex {
  void* handle = nullptr;
  void Acquire() { kp_acquire_lock(&handle); }
  void Release() { kp_release_lock(&handle); }
};
#else
struct KpForeignMutex {
  pthread_mutex_t handle = PTHREAD_MUTEX_INITIALIZER;
  void Acquire() { pthread_mutex_lock(&handle); }
  void Release() { pthread_mutex_unlock(&handle); }
};
#endif

KP_NAMESPACE_BEGIN
namespace detail {

#if defined(_WIN32)
struct ForeignCondition {
  void* handle = nullptr;
  // The caller has acquired the mutex; it has it again afterwards.
  void Wait(KpForeignMutex* mutex) { kp_sleep_condition(&handle, &mutex->handle, ~0ul, 0); }
  void WakeAll() { kp_wake_all(&handle); }
};

// Not 0; another thread may have it once this one has ended.
inline uintptr_t thread_identity() { return kp_thread_id(); }
#else
struct ForeignCondition {
  pthread_cond_t handle = PTHREAD_COND_INITIALIZER;
  // The caller has acquired the mutex; it has it again afterwards.
  void Wait(KpForeignMutex* mutex) { pthread_cond_wait(&handle, &mutex->handle); }
  void WakeAll() { pthread_cond_broadcast(&handle); }
};

// Not 0; another thread may have it once this one has ended.
inline uintptr_t thread_identity() { return reinterpret_cast<uintptr_t>(reinterpret_cast<void*>(pthread_self())); }
#endif

class ForeignLock {
 public:
  explicit ForeignLock(KpForeignMutex* mutex) : mutex_(mutex) { mutex_->Acquire(); }
  ForeignLock(const ForeignLock&) = delete;
  ForeignLock& operator=(const ForeignLock&) = delete;
  ~ForeignLock() { mutex_->Release(); }

 private:
  KpForeignMutex* mutex_;
};

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_FOREIGN_LOCK_H_
