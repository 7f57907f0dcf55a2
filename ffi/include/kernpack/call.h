// The context of the call in progress on this thread: the module instance and, through it, the host.
#ifndef KERNPACK_CALL_H_
#define KERNPACK_CALL_H_

#include <kernpack/config.h>
#include <kernpack/error.h>
#include <kernpack/instance.h>

extern "C" {
// Defined by KP_MODULE.
extern KP_HIDDEN const KpModule KP_PER_MODULE(kp_module_table);
}

KP_NAMESPACE_BEGIN
namespace detail {

[[noreturn]] KP_COLD inline void throw_outside_call() {
  KP_THROW(RuntimeError)
      << "kernpack: the host's services (stream, storage, workspace, allocation, threads) can only be "
         "used while a function of this module is being called, on the calling thread or inside "
         "kp::parallel_for";
}

// Throws RuntimeError outside a call.
inline Instance& current() {
  Instance* instance = current_or_null();
  if (KP_UNLIKELY(!instance)) throw_outside_call();
  return *instance;
}
inline const KpHost* host() { return current().host; }
// The name of the running function, for errors of code that it passes on: chunks of work, callables.
inline const char* current_function() { return KP_PER_MODULE(kp_current_call).function; }

// While it lives, a function of an instance is the current one of this thread.
class CallScope {
 public:
  CallScope(void* self, const char* function) : slot_(KP_PER_MODULE(kp_current_call)), outer_(slot_) {
    slot_ = {static_cast<KpInstance*>(self), function};
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  ~CallScope() { slot_ = outer_; }

 private:
  KpCurrentCall& slot_;  // one look-up of the thread-local per call, not two
  KpCurrentCall outer_;
};

// Throws the error that the host has raised; call it after a service or a callback returned non-zero.
[[noreturn]] KP_COLD inline void throw_raised() {
  KpAny error = kp_none();
  const KpHost* h = host();
  h->take_error(h, &error);
  if (error.type_index == KP_TYPE_ERROR) KP_THROW_(Error(reinterpret_cast<KpErrorObject*>(error.v.v_obj)));
  kp_any_release(&error);
  KP_THROW(InternalError) << "a host service failed without an error";
}
inline void check_host(int rc) {
  if (KP_UNLIKELY(rc != 0)) throw_raised();
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_CALL_H_
