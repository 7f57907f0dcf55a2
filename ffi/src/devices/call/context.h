// The contexts of the calls in progress on this thread, innermost first.
#ifndef KERNPACK_SRC_DEVICES_CALL_CONTEXT_H_
#define KERNPACK_SRC_DEVICES_CALL_CONTEXT_H_

#include <kernpack/abi.h>
#include <kernpack/host/host.h>

namespace kernpack::host {

// The stream of each device that this thread has made current.
inline bool SameDevice(KpDLDevice a, KpDLDevice b) {
  return a.device_type == b.device_type && a.device_id == b.device_id;
}

// NULL: the device's default stream.
void* ThreadStream(KpDLDevice device) noexcept;
// Gives the previous one. Throws std::bad_alloc.
void* SetThreadStream(KpDLDevice device, void* stream);

// The innermost context; NULL outside any.
KpCallContext* CurrentCall() noexcept;

// Where this thread keeps the innermost context.
KpCallContext** CallSlot() noexcept;

// kp_call_enter and kp_call_leave with one look-up of the thread's slot between them.
class CallScope {
 public:
  explicit CallScope(KpCallContext* context) noexcept : slot_(CallSlot()), outer_(*slot_) {
    context->outer = outer_;
    *slot_ = context;
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  ~CallScope() { *slot_ = outer_; }

 private:
  KpCallContext** slot_;
  KpCallContext* outer_;
};

// The stream that the calls in progress use on that device, else what this thread has set; NULL when none named one.
void* CurrentStream(KpDLDevice device) noexcept;
// Where the innermost call that names a stream of that device keeps it; NULL when none does.
void** CallStream(KpDLDevice device) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_CALL_CONTEXT_H_
