// Findings about a lent tensor after the call.
#include <algorithm>
#include <cstring>
#include <iterator>

#include <kernpack/host/device.h>

#include "observe/check/guarded_tensor.h"
#include "observe/check/text.h"
#include "values/error/slot.h"
#include "values/tensor/dltensor.h"

namespace kernpack::host::check {
namespace {

uint32_t StrongCount(const KpAny& object) {
  return static_cast<uint32_t>(__atomic_load_n(&object.v.v_obj->counts, __ATOMIC_ACQUIRE));
}

}  // namespace

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
  const KpDLTensor copy = InBlock();
  for (int64_t i = 0; i < numel_; ++i) {
    if (std::memcmp(ElementAt(copy, i), ElementAt(original_, i), ElementBytes()) != 0) return i;
  }
  return -1;
}

bool Lent::Held(const IsOrigin& is_origin) const {
  if (!IsFloat(given_.dtype) || !KeepsContent()) return false;
  const auto part = static_cast<size_t>(PartBits(given_.dtype)) / 8;
  for (int64_t i = 0; i < numel_; ++i) {
    const char* at = compact_ ? OriginalBytes() + static_cast<size_t>(i) * ElementBytes() : ElementAt(original_, i);
    for (size_t k = 0; k < ElementBytes(); k += part) {
      if (is_origin(at + k, given_.dtype)) return true;
    }
  }
  return false;
}

void Lent::LookAtInput(const std::string& who, Findings* findings) const {
  if (block_->bytes() == 0 || std::memcmp(block_->data(), OriginalBytes(), block_->bytes()) == 0) return;
  const int64_t changed = FindChanged();
  if (changed < 0) return SayGaps(who, findings);
  const std::string before = ElementText(given_.dtype, ElementAt(original_, changed));
  const std::string now = ElementText(given_.dtype, ElementAt(InBlock(), changed));
  const std::string values = before.empty() ? "" : " (from " + before + " to " + now + ")";
  findings->push_back(who + ElementName(given_, changed) + " was written" + values +
                      ", although the signature makes it read-only; write to a copy or a result, or mark it `" +
                      parameter_ + "!: ...`");
}

// Of a tensor that may be written: with its elements put among what was there before, the rest has to be the same.
void Lent::LookAtGaps(const std::string& who, Findings* findings) const {
  const std::unique_ptr<char[]> expected(new char[block_->bytes()]);
  std::memcpy(expected.get(), before_.get(), block_->bytes());
  const KpDLTensor copy = InBlock();
  KpDLTensor with_elements = original_;
  with_elements.data = expected.get();
  if (kp_copy(&copy, &with_elements) != 0) return kp_error_clear();
  if (std::memcmp(block_->data(), expected.get(), block_->bytes()) != 0) SayGaps(who, findings);
}

void Lent::SayGaps(const std::string& who, Findings* findings) const {
  findings->push_back(who + "memory between its elements (" + TensorText(given_) +
                      " with strides) was written; use stride(i)");
}

void Lent::LookAround(const std::string& who, Findings* findings) const {
  const Block::Damage damage = block_->Look();
  const uint64_t size = ElementBytes() ? ElementBytes() : 1;
  const auto elements = [size](uint64_t bytes) { return static_cast<int64_t>((bytes + size - 1) / size); };
  const auto say = [&](const Block::Reach& reach, const char* where, const char* beside, int64_t index,
                       const char* remedy) {
    if (reach.farthest == 0) return;
    const uint64_t bytes = static_cast<uint64_t>(elements(reach.farthest) - elements(reach.nearest) + 1) * size;
    std::string text = who + "memory " + where + " was written, ";
    text.append(ReachText(reach, size, ElementBytes() ? "element" : "byte")).append(beside).append(TensorText(given_));
    text.append(" (").append(std::to_string(bytes)).append(bytes == 1 ? " byte" : " bytes");
    if (given_.ndim == 1 && compact_ && ElementBytes()) text.append(", from index [" + std::to_string(index) + "]");
    findings->push_back(text.append("); ").append(remedy));
  };
  say(damage.past, "past its end", " past the last one of ", numel_ + elements(damage.past.nearest) - 1,
      "check the loop's bounds");
  say(damage.before, "before its start", " before the first one of ", -elements(damage.before.farthest),
      "check the indices, and that byte_offset is added to data");
}

void Lent::Look(const std::string& function, bool ok, const Sources& sources, Findings* findings) {
  const std::string who = function + ": " + name_ + ": ";
  LookAround(who, findings);
  const auto ndim = static_cast<size_t>(given_.ndim);
  if (ndim && (std::memcmp(dims_.data(), given_.shape, ndim * sizeof(int64_t)) != 0 ||
               (given_.strides && std::memcmp(dims_.data() + ndim, given_.strides, ndim * sizeof(int64_t)) != 0))) {
    findings->push_back(who + "its shape or strides were changed; they belong to the caller: copy them first");
  }
  if (object_.type_index == KP_TYPE_TENSOR && StrongCount(object_) < 2) {
    findings->push_back(who + "was released, though it is only lent for the call; retain it first, or leave it alone");
    kp_any_retain(&object_);
  }
  if (role_ == Role::kInput) LookAtInput(who, findings);
  if (role_ != Role::kInput && before_ && !compact_) LookAtGaps(who, findings);
  const bool floats = IsFloat(given_.dtype) && (role_ == Role::kResult || role_ == Role::kMutated);
  if (!ok || numel_ == 0 || !(floats || role_ == Role::kResult)) return;
  std::unique_ptr<char[]> buffer;
  char* elements = Elements(&buffer);
  if (!compact_ && MoveElements(elements, /*to_block=*/false) != 0) return kp_error_clear();
  if (floats) {
    LookAtFloats(who, elements, sources, findings);
  } else {
    LookAtNoise(who, elements, findings);
  }
}

namespace {

std::string NotWritten(const KpDLTensor& tensor, int64_t first, int64_t count, const char* or_else) {
  const int64_t all = NumElements(tensor);
  std::string out = (count == all ? TensorText(tensor) : ElementName(tensor, first)) + " was " +
                    (count == all ? "never" : "not") + " written" + or_else;
  if (count != all) out += " (" + std::to_string(count) + " of " + std::to_string(all) + " elements)";
  out += "; its memory comes uninitialised: write every element, zeros first where `+=` follows";
  if (count == all || (first != 0 && first + count != all)) return out;
  return out +
         "; check the loop's bounds, that what is written has the dtype's size, and that byte_offset is added to data";
}

// True if any float may be NaN or infinite: one pass without branches, because such floats are rare.
template <class Word>
bool AnyNotFinite(const char* at, size_t count, Word exponent) {
  unsigned any = 0;
  for (size_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, at + i * sizeof(Word), sizeof(Word));
    any |= static_cast<unsigned>(static_cast<Word>(word & exponent) == exponent);
  }
  return any != 0;
}

bool AnyNotFinite(const char* at, size_t bytes, KpDLDataType dtype) {
  if (PartBits(dtype) == 64) return AnyNotFinite<uint64_t>(at, bytes / 8, 0x7ff0000000000000u);
  if (PartBits(dtype) == 32) return AnyNotFinite<uint32_t>(at, bytes / 4, 0x7f800000u);
  return AnyNotFinite<uint16_t>(at, bytes / 2, dtype.code == KP_DTYPE_BFLOAT ? 0x7f80 : 0x7c00);
}

IsOrigin HoldsThe(Mark mark) {
  return [mark](const char* at, KpDLDataType dtype) {
    return IsMarkedFloat(at, static_cast<size_t>(PartBits(dtype)) / 8, mark);
  };
}

}  // namespace

void Lent::LookAtFloats(const std::string& who, const char* elements, const Sources& sources,
                        Findings* findings) const {
  struct Told {
    Mark mark;
    const char* from;
  };
  static constexpr Told kTold[] = {
      {Mark::kWorkspace,
       "workspace memory that this call had not written: clear it first, or ask for it with kp::zeroed"},
      {Mark::kEmpty, "a new tensor that this call had not written: its memory comes uninitialised"},
      {Mark::kReturned, "memory that was given back: that of an earlier call, or of a tensor that was released"},
  };
  const auto part = static_cast<size_t>(PartBits(given_.dtype)) / 8;
  const size_t size = ElementBytes();
  if (!AnyNotFinite(elements, static_cast<size_t>(NumBytes(given_)), given_.dtype)) return;
  int64_t unwritten = 0;
  int64_t first = -1;
  int64_t tainted[std::size(kTold)];
  std::fill(std::begin(tainted), std::end(tainted), -1);
  int64_t outside[kOutsideTags + 1];
  std::fill(std::begin(outside), std::end(outside), -1);
  for (int64_t i = 0; i < numel_; ++i) {
    const char* at = elements + static_cast<size_t>(i) * size;
    for (size_t k = 0; k < size; k += part) {
      if (!AnyNotFinite(at + k, part, given_.dtype)) continue;
      if (role_ == Role::kResult && IsMarkedFloat(at + k, part, Mark::kUnwritten)) {
        if (first < 0) first = i;
        ++unwritten;
        break;
      }
      for (size_t t = 0; t < std::size(kTold); ++t) {
        if (tainted[t] < 0 && IsMarkedFloat(at + k, part, kTold[t].mark)) tainted[t] = i;
      }
      int64_t* tagged = &outside[GetOutsideTag(at + k, given_.dtype)];
      if (*tagged < 0) *tagged = i;
    }
  }
  if (unwritten && !sources.given(HoldsThe(Mark::kUnwritten))) {
    findings->push_back(who + NotWritten(given_, first, unwritten, ", or was read before it was written"));
  }
  const auto say = [&](int64_t element, const std::string& from) {
    findings->push_back(who + ElementName(given_, element) + " was computed from " + from);
  };
  for (size_t t = 0; t < std::size(kTold); ++t) {
    if (tainted[t] >= 0 && !sources.given(HoldsThe(kTold[t].mark))) say(tainted[t], kTold[t].from);
  }
  for (unsigned tag = 1; tag <= kOutsideTags; ++tag) {
    if (outside[tag] < 0) continue;
    const std::string owner = sources.owner(tag);
    if (owner.empty()) continue;
    if (sources.given([tag](const char* at, KpDLDataType dtype) { return GetOutsideTag(at, dtype) == tag; })) continue;
    say(outside[tag],
        "memory outside of " + owner + ": check the loop's bounds, and that byte_offset is added to data");
  }
}

// Integers and bools. A few bits that equal the noise mean nothing: a run has to be so long that chance is out of question,
// but for one at the end or the start, where a loop's bounds go wrong and few places could mislead. An element half of which
// was written counts too: what was written there has another size.
void Lent::LookAtNoise(const std::string& who, const char* elements, Findings* findings) const {
  const bool is_bool = given_.dtype.code == KP_DTYPE_BOOL;
  const size_t size = ElementBytes() ? ElementBytes() : 1;  // of dtypes below a byte, whole bytes are looked at
  const auto count = NumBytes(given_) / static_cast<int64_t>(size);
  const int64_t per = ElementBytes() ? 1 : numel_ / (count ? count : 1);
  int64_t log = 0;
  while ((count >> log) > 0) ++log;
  int64_t unwritten = 0;
  int64_t first = -1;
  int64_t run = 0;
  size_t same_bytes = 0;  // of the run
  const auto end_run = [&](int64_t end) {
    const bool at_edge = end == count || end == run;
    const int64_t enough = is_bool ? 1 : at_edge ? 20 : 20 + log;
    if (run && static_cast<int64_t>(same_bytes) * 8 >= enough) {
      if (first < 0) first = end - run;
      unwritten += run;
    }
    run = 0;
    same_bytes = 0;
  };
  int64_t no_bool = -1;
  for (int64_t i = 0; i < count; ++i) {
    const char* at = elements + static_cast<size_t>(i) * size;
    const auto same = [&](size_t begin, size_t end) {
      for (size_t k = begin; k < end; ++k) {
        const uint8_t was = is_bool ? MarkByte(Mark::kUnwritten, at + k) : NoiseByte(static_cast<size_t>(i) * size + k);
        if (static_cast<uint8_t>(at[k]) != was) return false;
      }
      return true;
    };
    const size_t half = size / 2;
    const bool first_half = same(0, half);
    const bool second_half = same(half, size);
    if ((first_half && second_half) || (half >= 2 && (first_half || second_half))) {
      ++run;
      same_bytes += first_half && second_half ? size : half;
      continue;
    }
    end_run(i);
    if (is_bool && no_bool < 0 && static_cast<uint8_t>(*at) > 1) no_bool = i;
  }
  end_run(count);
  if (unwritten) {
    findings->push_back(who + NotWritten(given_, first * per, unwritten * per, ""));
  }
  if (no_bool >= 0) {
    findings->push_back(who + ElementName(given_, no_bool) + " holds " + ElementText(given_.dtype, elements + no_bool) +
                        ", which is neither 0 nor 1");
  }
}

void Lent::Compare(const std::string& function, const Lent& again, Findings* findings) const {
  if (role_ != Role::kResult || numel_ == 0) return;
  std::unique_ptr<char[]> buffers[2];
  const char* first = Elements(&buffers[0]);
  const char* second = again.Elements(&buffers[1]);
  if (!compact_ && (MoveElements(buffers[0].get(), /*to_block=*/false) != 0 ||
                    again.MoveElements(buffers[1].get(), /*to_block=*/false) != 0)) {
    return kp_error_clear();
  }
  if (std::memcmp(first, second, static_cast<size_t>(NumBytes(given_))) == 0) return;
  const size_t size = ElementBytes() ? ElementBytes() : 1;
  size_t at = 0;
  while (std::memcmp(first + at, second + at, size) == 0) at += size;
  const std::string what = ElementBytes() ? ElementName(given_, static_cast<int64_t>(at / size))
                                          : "byte " + std::to_string(at) + " of " + TensorText(given_);
  findings->push_back(function + ": " + name_ + ": " + what +
                      " differed when the call was repeated with other bytes outside of the tensors and in "
                      "memory that was not written: it depends on those, or threads of parallel_for race "
                      "(rerun with KERNPACK_NUM_THREADS=1 to tell), or the function is not `deterministic`");
}

}  // namespace kernpack::host::check
