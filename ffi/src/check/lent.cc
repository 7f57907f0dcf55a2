#include "check/lent.h"

#include <cstring>
#include <utility>

#include <kernpack/signature/memory.h>

#include "check/text.h"
#include "tensor/dltensor.h"

namespace kernpack::host::check {
namespace {

// No host promises that a tensor starts at its `data`, so the copies never do: a kernel that leaves out byte_offset reads
// and writes in the guard zone.
constexpr uint64_t kOffset = 256;

void DropBlock(void* block) { delete static_cast<std::shared_ptr<Block>*>(block); }

uint32_t StrongCount(const KpAny& object) {
  return static_cast<uint32_t>(__atomic_load_n(&object.v.v_obj->counts, __ATOMIC_ACQUIRE));
}

}  // namespace

Lent::Lent(const KpDLTensor& given, Role role, Turn turn, std::string name, std::string parameter)
    : given_(given), role_(role), name_(std::move(name)), parameter_(std::move(parameter)), object_(kp_none()) {
  const signature::Range range = signature::RangeOf(given);
  char* origin = static_cast<char*>(given.data) + given.byte_offset;
  const uint64_t bytes = range.end - range.begin;
  original_ = bytes ? reinterpret_cast<char*>(range.begin) : origin;
  numel_ = NumElements(given);
  compact_ = IsCompact(given);
  block_ = std::make_shared<Block>(bytes, reinterpret_cast<uintptr_t>(original_), turn);
  const auto ndim = static_cast<size_t>(given.ndim);
  dims_.resize(2 * ndim);
  if (ndim) std::memcpy(dims_.data(), given.shape, ndim * sizeof(int64_t));
  if (ndim && given.strides) std::memcpy(dims_.data() + ndim, given.strides, ndim * sizeof(int64_t));
  tensor_ = given;
  tensor_.shape = dims_.data();
  if (given.strides) tensor_.strides = dims_.data() + ndim;
  tensor_.data = block_->data() + (origin - original_) - kOffset;
  tensor_.byte_offset = kOffset;
  if (bytes == 0) return;
  const bool keeps_content = role == Role::kInput || role == Role::kMutated;
  if (keeps_content || (role == Role::kResult && !compact_)) {
    std::memcpy(block_->data(), original_, bytes);
  } else if (role == Role::kWorkspace) {
    FillMark(block_->data(), bytes, turn == Turn::kFirst ? Mark::kWorkspace : Mark::kWorkspaceAgain);
  } else if (IsFloat(given.dtype) || given.dtype.code == KP_DTYPE_BOOL) {
    FillMark(block_->data(), bytes, turn == Turn::kFirst ? Mark::kUnwritten : Mark::kUnwrittenAgain);
  } else {
    for (uint64_t i = 0; i < bytes; ++i) block_->data()[i] = static_cast<char>(NoiseByte(i, turn));
  }
}

Lent::~Lent() { ReleaseObject(); }

void Lent::ReleaseObject() {
  if (object_.type_index != KP_TYPE_TENSOR) return;
  KpAny first = object_;
  kp_any_release(&first);
  kp_any_release(&object_);
}

int Lent::Replace(KpAny* value) {
  if (value->type_index == KP_TYPE_DLTENSOR_PTR) {
    value->v.v_tensor = &tensor_;
    return 0;
  }
  auto memory = std::make_unique<std::shared_ptr<Block>>(block_);
  if (kp_tensor_wrap(&tensor_, memory.get(), DropBlock, &object_) != 0) return -1;
  static_cast<void>(memory.release());  // the tensor's now
  kp_any_retain(&object_);  // a second reference of ours tells a kernel's release from one that was due
  *value = object_;
  return 0;
}

const char* Lent::ElementAt(const KpDLTensor& tensor, int64_t element) const {
  int64_t step = 0;
  int64_t compact = 1;
  for (int32_t i = tensor.ndim; i-- > 0;) {
    const int64_t place = element % tensor.shape[i];
    element /= tensor.shape[i];
    step += place * (tensor.strides ? tensor.strides[i] : compact);
    compact *= tensor.shape[i];
  }
  return static_cast<const char*>(tensor.data) + tensor.byte_offset + step * static_cast<int64_t>(ElementBytes());
}

// The first element that is not what it was; -1: none is, though a byte between them changed.
int64_t Lent::FindChanged() const {
  if (ElementBytes() == 0) return -1;
  KpDLTensor copy = given_;
  copy.data = block_->data() + (static_cast<char*>(given_.data) + given_.byte_offset - original_);
  copy.byte_offset = 0;
  for (int64_t i = 0; i < numel_; ++i) {
    if (std::memcmp(ElementAt(copy, i), ElementAt(given_, i), ElementBytes()) != 0) return i;
  }
  return -1;
}

bool Lent::HeldMark(Mark mark) const {
  if (!IsFloat(given_.dtype) || role_ == Role::kResult || role_ == Role::kWorkspace) return false;
  const auto step = static_cast<size_t>(PartBits(given_.dtype)) / 8;
  for (const char* at = original_; at + step <= original_ + block_->bytes(); at += step) {
    if (IsMarkedFloat(at, step, mark)) return true;
  }
  return false;
}

void Lent::Look(const std::string& function, bool ok, const Given& given, Findings* findings) {
  const std::string who = function + ": " + name_ + ": ";
  const Block::Damage damage = block_->Look();
  const uint64_t size = ElementBytes() ? ElementBytes() : 1;
  const std::string what = TensorText(given_);
  if (damage.past != UINT64_MAX) {
    findings->push_back(who + "memory past its end was written, " + std::to_string(damage.past / size) +
                        " elements behind the last one of " + what + "; check the loop's bounds");
  }
  if (damage.before) {
    findings->push_back(who + "memory before its start was written, " +
                        std::to_string((damage.before + size - 1) / size) + " elements in front of the first one of " +
                        what + "; check the indices, and that byte_offset is added to data");
  }
  const auto ndim = static_cast<size_t>(given_.ndim);
  if (ndim && (std::memcmp(dims_.data(), given_.shape, ndim * sizeof(int64_t)) != 0 ||
               (given_.strides && std::memcmp(dims_.data() + ndim, given_.strides, ndim * sizeof(int64_t)) != 0))) {
    findings->push_back(who + "its shape or strides were changed; they belong to the caller: copy them first");
  }
  if (object_.type_index == KP_TYPE_TENSOR && StrongCount(object_) < 2) {
    findings->push_back(who + "was released, though it is only lent for the call; retain it first, or leave it alone");
    kp_any_retain(&object_);
  }
  if (role_ == Role::kInput && block_->bytes() && std::memcmp(block_->data(), original_, block_->bytes()) != 0) {
    const int64_t changed = FindChanged();
    if (changed < 0) {
      findings->push_back(who + "memory between its elements (" + what + " with strides) was written; use stride(i)");
    } else {
      const char* now = block_->data() + (ElementAt(given_, changed) - original_);
      const std::string before = ElementText(given_.dtype, ElementAt(given_, changed));
      const std::string values =
          before.empty() ? "" : " (from " + before + " to " + ElementText(given_.dtype, now) + ")";
      findings->push_back(who + "element " + IndexText(given_, changed) + " of " + what + " was written" + values +
                          ", though the signature lets it be read only; write to a copy or a result, or mark it `" +
                          parameter_ + "!: ...`");
    }
  }
  if (!ok || !compact_ || numel_ == 0) return;
  if (IsFloat(given_.dtype) && (role_ == Role::kResult || role_ == Role::kMutated)) {
    LookAtFloats(who, given, findings);
  } else if (role_ == Role::kResult) {
    LookAtNoise(who, findings);
  }
}

namespace {

std::string NotWritten(const KpDLTensor& tensor, int64_t first, int64_t count, int64_t all, const char* or_else) {
  const std::string what = TensorText(tensor);
  if (count == all) return what + " was never written" + or_else;
  return "element " + IndexText(tensor, first) + " of " + what + " was not written" + or_else + " (" +
         std::to_string(count) + " of " + std::to_string(all) + " elements)";
}

}  // namespace

namespace {

// Whether any float may hold a mark: one pass without branches, since hardly any does.
template <class Word>
bool MayHoldMark(const char* at, size_t count) {
  constexpr Word kTop = static_cast<Word>(static_cast<Word>(0x7ff8) << (8 * sizeof(Word) - 16));
  unsigned any = 0;
  for (size_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, at + i * sizeof(Word), sizeof(Word));
    any |= static_cast<unsigned>(static_cast<Word>(word & kTop) == kTop);
  }
  return any != 0;
}

bool MayHoldMark(const char* at, size_t bytes, size_t part) {
  if (part == 2) return MayHoldMark<uint16_t>(at, bytes / part);
  if (part == 4) return MayHoldMark<uint32_t>(at, bytes / part);
  return MayHoldMark<uint64_t>(at, bytes / part);
}

}  // namespace

void Lent::LookAtFloats(const std::string& who, const Given& given, Findings* findings) const {
  struct Told {
    Mark mark;
    const char* from;
  };
  static constexpr Told kTold[] = {
      {Mark::kOutside, "memory outside of a tensor: a loop reads past its bounds, or byte_offset is left out"},
      {Mark::kWorkspace,
       "workspace memory that this call had not written: clear it first, or ask for it with kp::zeroed"},
      {Mark::kReturned, "memory that an earlier call was lent: keep no pointer to an argument"},
  };
  const auto part = static_cast<size_t>(PartBits(given_.dtype)) / 8;
  const size_t size = ElementBytes();
  if (!MayHoldMark(block_->data(), block_->bytes(), part)) return;
  int64_t unwritten = 0;
  int64_t first = -1;
  int64_t tainted[3] = {-1, -1, -1};
  for (int64_t i = 0; i < numel_; ++i) {
    const char* at = block_->data() + static_cast<size_t>(i) * size;
    for (size_t k = 0; k < size; k += part) {
      uint16_t top = 0;
      std::memcpy(&top, at + k + part - 2, 2);
      if ((top & 0x7ff8) != 0x7ff8) continue;  // most elements are no NaN
      if (role_ == Role::kResult && IsMarkedFloat(at + k, part, Mark::kUnwritten)) {
        if (first < 0) first = i;
        ++unwritten;
        break;
      }
      for (size_t t = 0; t < 3; ++t) {
        if (tainted[t] < 0 && IsMarkedFloat(at + k, part, kTold[t].mark)) tainted[t] = i;
      }
    }
  }
  if (unwritten && !given(Mark::kUnwritten)) {
    findings->push_back(who + NotWritten(given_, first, unwritten, numel_, ", or was read before it was written") +
                        "; its memory comes uninitialised: write every element");
  }
  for (size_t t = 0; t < 3; ++t) {
    if (tainted[t] < 0 || given(kTold[t].mark)) continue;
    findings->push_back(who + "element " + IndexText(given_, tainted[t]) + " of " + TensorText(given_) +
                        " was computed from " + kTold[t].from);
  }
}

// Integers and bools. A few bits that equal the noise mean nothing: a run has to be so long that chance is out of question,
// but for one at the end or the start, where a loop's bounds go wrong and few places could mislead.
void Lent::LookAtNoise(const std::string& who, Findings* findings) const {
  const bool is_bool = given_.dtype.code == KP_DTYPE_BOOL;
  const size_t size = ElementBytes() ? ElementBytes() : 1;  // of dtypes below a byte, whole bytes are looked at
  const auto count = static_cast<int64_t>(block_->bytes() / size);
  const int64_t per = ElementBytes() ? 1 : numel_ / (count ? count : 1);
  int64_t log = 0;
  while ((count >> log) > 0) ++log;
  int64_t unwritten = 0;
  int64_t first = -1;
  int64_t run = 0;
  const auto end_run = [&](int64_t end) {
    const bool at_edge = end == count || end == run;
    const int64_t enough = is_bool ? 1 : at_edge ? 20 : 20 + log;
    if (run * static_cast<int64_t>(size) * 8 >= enough) {
      if (first < 0) first = end - run;
      unwritten += run;
    }
    run = 0;
  };
  int64_t no_bool = -1;
  for (int64_t i = 0; i < count; ++i) {
    const char* at = block_->data() + static_cast<size_t>(i) * size;
    bool same = true;
    for (size_t k = 0; k < size && same; ++k) {
      const uint8_t was = is_bool ? MarkByte(Mark::kUnwritten, at + k) : NoiseByte(static_cast<size_t>(i) * size + k);
      same = static_cast<uint8_t>(at[k]) == was;
    }
    if (same) {
      ++run;
      continue;
    }
    end_run(i);
    if (is_bool && no_bool < 0 && static_cast<uint8_t>(*at) > 1) no_bool = i;
  }
  end_run(count);
  if (unwritten) {
    findings->push_back(who + NotWritten(given_, first * per, unwritten * per, numel_, "") +
                        "; its memory comes uninitialised: write every element");
  }
  if (no_bool >= 0) {
    findings->push_back(who + "element " + IndexText(given_, no_bool) + " of " + TensorText(given_) + " holds " +
                        ElementText(given_.dtype, block_->data() + no_bool) + ", which is neither 0 nor 1");
  }
}

void Lent::Compare(const std::string& function, const Lent& again, Findings* findings) const {
  if (role_ != Role::kResult || !compact_ || std::memcmp(block_->data(), again.block_->data(), block_->bytes()) == 0)
    return;
  const size_t size = ElementBytes() ? ElementBytes() : 1;
  size_t at = 0;
  while (std::memcmp(block_->data() + at, again.block_->data() + at, size) == 0) at += size;
  const std::string what =
      ElementBytes() ? "element " + IndexText(given_, static_cast<int64_t>(at / size)) : "byte " + std::to_string(at);
  findings->push_back(
      function + ": " + name_ + ": " + what + " of " + TensorText(given_) +
      " depends on bytes outside of the tensors, or on memory that was not written: it came out otherwise "
      "when the call was repeated with others there; check the loop's bounds, or, if it may differ, leave "
      "`deterministic` out of the signature");
}

void Lent::GiveBack(const std::string& function) {
  if (block_->bytes() && (role_ == Role::kMutated || role_ == Role::kResult)) {
    std::memcpy(original_, block_->data(), block_->bytes());
  }
  ReleaseObject();
  if (block_.use_count() == 1)
    KeepForAWhile(block_, function, name_);  // else the kernel has kept the tensor, as it may
}

}  // namespace kernpack::host::check
