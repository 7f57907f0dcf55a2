// A checked call in progress, and the one place where checked calls begin: kp_function_resolve hands out a stand-in for the kernel's
// function.
#ifndef KERNPACK_SRC_OBSERVE_CHECK_CALL_H_
#define KERNPACK_SRC_OBSERVE_CHECK_CALL_H_

#include <atomic>
#include <deque>
#include <mutex>

#include <kernpack/host/host.h>

#include "observe/check/device_image.h"
#include "observe/check/empty.h"
#include "observe/check/guarded_tensor.h"
#include "observe/check/scratch.h"

namespace kernpack::host::check {

class CheckedCall {
 public:
  CheckedCall(const KpLoadedFunction& function, const KpAny* args, int32_t num_args, Turn turn = Turn::kFirst);
  CheckedCall(const CheckedCall&) = delete;
  CheckedCall& operator=(const CheckedCall&) = delete;
  ~CheckedCall();

  int Run(KpSafeCall call, void* self, KpAny* result);

  // The innermost one on this thread; NULL outside any.
  static CheckedCall* Current() noexcept;
  const char* function_name() const { return function_.name; }
  // The one that it was made from, on the same thread; NULL: none.
  CheckedCall* outer() const { return outer_; }
  // Whose memory that address is in, of what is lent until the call returns: an argument's or a workspace's name, or "".
  std::string FindOwner(const void* address);
  Scratch& scratch() { return scratch_; }
  EmptyTensors& empty() { return empty_; }
  DevicesInUse& devices() { return devices_; }
  // True if the host's memory is lent and looked at. False if work of a device may use it after the call.
  bool looks_at_memory() const { return looks_at_memory_; }
  Turn turn() const { return turn_; }
  // For what surrounds the next buffer of the call's. Any thread.
  unsigned NextTag() { return TagOfNumber(buffers_.fetch_add(1, std::memory_order_relaxed)); }
  // Any thread.
  void Find(std::string finding);

 private:
  void UseDevices(const KpAny& value, int depth = 0);
  int Lend();
  int LendOne(int32_t index, Role role, const char* name, bool is_list);
  int LendTensor(KpAny* value, Role role, std::string name, const char* parameter);
  int Invoke(KpSafeCall call, void* self, KpAny* result);
  int Settle(int rc);
  int FetchAll();
  int GiveBack(int rc);
  void Look(int rc, KpAny* result);
  bool MayRepeat() const;
  void Repeat(KpSafeCall call, void* self);
  void LookAtErrors(int* rc);
  std::string OwnerOfTag(unsigned tag);
  void LookAtArguments();
  int Report(int rc);

  const KpLoadedFunction& function_;
  const KpAny* given_;
  Turn turn_;
  std::vector<KpAny> args_;  // what the kernel gets
  std::vector<KpAny> before_;  // the same, to compare with
  std::vector<KpAny> owned_;  // lists made for it
  DevicesInUse devices_;
  std::deque<Lent> lent_;  // addresses are handed out
  Scratch scratch_;
  EmptyTensors empty_;
  std::atomic<unsigned> buffers_{0};
  bool looks_at_memory_ = true;
  CheckedCall* outer_ = nullptr;
  std::mutex mutex_;  // of the findings: parallel_for's threads have some too
  Findings findings_;
};

// Makes a call this thread's innermost one for its own lifetime: foreign code might throw.
class Innermost {
 public:
  explicit Innermost(CheckedCall* call) noexcept;
  Innermost(const Innermost&) = delete;
  Innermost& operator=(const Innermost&) = delete;
  ~Innermost();
  void Leave() const noexcept;

 private:
  CheckedCall* outer_;
};

// The body of a parallel_for whose chunks, on whatever thread, belong to the checked call that started them.
struct CheckedBody {
  KpParallelBody body;
  void* context;
  CheckedCall* call;
  static int Run(void* self, int64_t begin, int64_t end);
};

// Replaces what calls `function` by what calls it under checks. The stand-in may be kept: while checks are not requested it
// calls straight on.
void StandIn(const KpLoadedFunction* function, KpSafeCall* call, void** self);

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_OBSERVE_CHECK_CALL_H_
