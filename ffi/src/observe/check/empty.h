// Tensors from kp::Tensor::Empty on the CPU during a checked call, with a guard zone on either side.
#ifndef KERNPACK_SRC_OBSERVE_CHECK_EMPTY_H_
#define KERNPACK_SRC_OBSERVE_CHECK_EMPTY_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <kernpack/abi.h>

#include "observe/check/pattern.h"

namespace kernpack::host::check {

class EmptyTensor;

// Those of one call, on all of its threads.
class EmptyTensors {
 public:
  EmptyTensors() = default;
  EmptyTensors(const EmptyTensors&) = delete;
  EmptyTensors& operator=(const EmptyTensors&) = delete;
  ~EmptyTensors();

  // 0 with a TENSOR in *out, or -1 with an error raised. Throws std::bad_alloc.
  int Make(const KpDLTensor& prototype, unsigned tag, Turn turn, const char* function, KpAny* out);
  // Once, at the end of the call: writes outside of them, and to those that were released.
  void Look(std::vector<std::string>* findings);

 private:
  static constexpr size_t kFewTensors = 128;
  void DropReleased();
  std::mutex mutex_;
  std::vector<std::shared_ptr<EmptyTensor>> all_;
  size_t most_ = kFewTensors;  // before released ones are dropped
  std::vector<std::string> found_;  // of those
};

// The last ones that outlived their call: stored, returned, kept by an object.
void LookAtEmptyTensors(std::vector<std::string>* findings);

// If a checked call is in progress on this thread that looks at such memory, serves it: *served says whether.
int EmptyChecked(const KpDLTensor* prototype, KpAny* out, bool* served);

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_OBSERVE_CHECK_EMPTY_H_
