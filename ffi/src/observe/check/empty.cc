#include "observe/check/empty.h"

#include <array>

#include <kernpack/host/host.h>

#include "base/fork.h"
#include "base/leaked.h"
#include "observe/check/block.h"
#include "observe/check/call.h"
#include "observe/check/text.h"
#include "values/tensor/dltensor.h"
#include "values/tensor/tensor_object.h"

namespace kernpack::host::check {

// Shared by the call and the tensor, whichever ends later.
class EmptyTensor {
 public:
  EmptyTensor(const KpDLTensor& wanted, unsigned tag, Turn turn, const char* function)
      : block_(std::make_unique<Block>(static_cast<uint64_t>(NumBytes(wanted)), 0,
                                       OutsidePattern(tag, wanted.dtype, /*is_input=*/false, turn))),
        who_(std::string(function) + ": new tensor " + TensorText(wanted) + ": ") {
    FillMark(block_->data(), block_->bytes(), GetMark(Mark::kEmpty, turn));
  }

  void* data() const { return block_->data(); }

  // The last reference to the tensor is gone. Large memory goes at once: a call may make many such tensors.
  void Release() {
    const std::lock_guard lock(mutex_);
    LookAround();
    released_ = true;
    if (block_->bytes() <= kMostKept && in_call_) {
      FillMark(block_->data(), block_->bytes(), Mark::kReturned);
    } else {
      block_.reset();
    }
  }

  // Appends what was found since the last time.
  void Look(std::vector<std::string>* findings) {
    const std::lock_guard lock(mutex_);
    if (block_) {
      LookAround();
      if (released_ && !HoldsMark(block_->data(), block_->bytes(), Mark::kReturned)) {
        found_.push_back(who_ + "was written after its last reference was released; keep the Tensor for longer");
      }
    }
    findings->insert(findings->end(), found_.begin(), found_.end());
    said_ |= !found_.empty();
    found_.clear();
  }

  bool IsReleased() {
    const std::lock_guard lock(mutex_);
    return released_;
  }

  // Returns whether the tensor is still there.
  bool EndCall() {
    const std::lock_guard lock(mutex_);
    in_call_ = false;
    if (released_) block_.reset();
    return !released_;
  }

 private:
  void LookAround() {
    if (said_ || !found_.empty() || released_) return;
    const Block::Damage damage = block_->Look();
    if (damage.past.farthest) {
      found_.push_back(who_ + "memory past its end was written, " + ReachText(damage.past, 1, "byte") +
                       " past the last one; check the loop's bounds");
    }
    if (damage.before.farthest) {
      found_.push_back(who_ + "memory before its start was written, " + ReachText(damage.before, 1, "byte") +
                       " before the first one; check the indices");
    }
  }

  std::mutex mutex_;
  std::unique_ptr<Block> block_;
  std::string who_;
  std::vector<std::string> found_;
  bool said_ = false;
  bool released_ = false;
  bool in_call_ = true;
};

namespace {

struct LastEmpty {
  ForkMutex mutex{LockRank::kNames};
  std::array<std::weak_ptr<EmptyTensor>, 32> ring;
  size_t next = 0;
};

void ReleaseEmpty(void* context) {
  const std::unique_ptr<std::shared_ptr<EmptyTensor>> one(static_cast<std::shared_ptr<EmptyTensor>*>(context));
  (*one)->Release();
}

}  // namespace

EmptyTensors::~EmptyTensors() {
  for (const auto& one : all_) one->EndCall();
}

int EmptyTensors::Make(const KpDLTensor& prototype, unsigned tag, Turn turn, const char* function, KpAny* out) {
  KpDLTensor wanted{};
  if (ReadPrototype(&prototype, "kp_tensor_new", &wanted) != 0) return -1;
  auto made = std::make_shared<EmptyTensor>(wanted, tag, turn, function);
  wanted.data = made->data();
  auto held = std::make_unique<std::shared_ptr<EmptyTensor>>(made);
  {
    const std::lock_guard lock(mutex_);
    if (all_.size() >= most_) DropReleased();
    all_.push_back(std::move(made));
  }
  if (kp_tensor_wrap(&wanted, held.get(), ReleaseEmpty, out) != 0) return -1;
  static_cast<void>(held.release());  // the tensor's now
  return 0;
}

// A loop may make any number of them.
void EmptyTensors::DropReleased() {
  std::erase_if(all_, [this](const std::shared_ptr<EmptyTensor>& one) {
    if (!one->IsReleased()) return false;
    one->Look(&found_);
    one->EndCall();
    return true;
  });
  most_ = 2 * all_.size() + kFewTensors;
}

void EmptyTensors::Look(std::vector<std::string>* findings) {
  findings->insert(findings->end(), found_.begin(), found_.end());
  for (const auto& one : all_) {
    one->Look(findings);
    if (!one->EndCall()) continue;
    auto& last = Leaked<LastEmpty>();
    const std::lock_guard lock(last.mutex);
    last.ring[last.next] = one;
    last.next = (last.next + 1) % last.ring.size();
  }
}

void LookAtEmptyTensors(std::vector<std::string>* findings) {
  std::vector<std::shared_ptr<EmptyTensor>> alive;  // the last reference to one may go here, without the lock
  auto& last = Leaked<LastEmpty>();
  {
    const std::lock_guard lock(last.mutex);
    for (const auto& one : last.ring) {
      if (auto held = one.lock()) alive.push_back(std::move(held));
    }
  }
  for (const auto& one : alive) one->Look(findings);
}

int EmptyChecked(const KpDLTensor* prototype, KpAny* out, bool* served) {
  CheckedCall* call = CheckedCall::Current();
  *served = call != nullptr && call->looks_at_memory() && prototype != nullptr &&
            prototype->device.device_type == KP_DEVICE_CPU;
  return *served ? call->empty().Make(*prototype, call->NextTag(), call->turn(), call->function_name(), out) : 0;
}

}  // namespace kernpack::host::check
