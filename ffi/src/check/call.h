// A checked call in progress.
#ifndef KERNPACK_SRC_CHECK_CALL_H_
#define KERNPACK_SRC_CHECK_CALL_H_

#include <deque>

#include <kernpack/host/host.h>

#include "check/lent.h"
#include "check/scratch.h"

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
  // Whose memory that address is in: an argument's name, or NULL.
  const std::string* OwnerOf(const void* address) const;
  Scratch& scratch() { return scratch_; }
  Findings* findings() { return &findings_; }
  Turn turn() const { return turn_; }

 private:
  int Lend();
  int LendOne(int32_t index, Role role, const char* name, bool is_list);
  int LendTensor(KpAny* value, Role role, std::string name, const char* parameter);
  void Look(int rc, KpAny* result);
  bool MayRepeat() const;
  void Repeat(KpSafeCall call, void* self);
  void LookAtErrors(int* rc);
  void LookAtArguments();
  int Report(int rc);

  const KpLoadedFunction& function_;
  const KpAny* given_;
  Turn turn_;
  std::vector<KpAny> args_;    // what the kernel gets
  std::vector<KpAny> before_;  // the same, to compare with
  std::vector<KpAny> owned_;   // lists made for it
  std::deque<Lent> lent_;      // addresses are handed out
  Scratch scratch_;
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
  static int Run(void* self, int64_t begin, int64_t end) {
    const auto* one = static_cast<const CheckedBody*>(self);
    const Innermost innermost(one->call);
    return one->body(one->context, begin, end);
  }
};

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_CHECK_CALL_H_
