#include "observe/check/guarded_tensor.h"

#include <cstring>
#include <utility>

#include <kernpack/host/device.h>
#include <kernpack/signature/memory.h>

#include "observe/check/text.h"
#include "values/tensor/dltensor.h"

namespace kernpack::host::check {
namespace {

// No host promises that a tensor starts at its `data`, so the copies never do: a kernel that leaves out byte_offset reads
// and writes in the guard zone.
constexpr uint64_t kOffset = 256;

// The objects that a tensor of the copy keeps alive.
struct LentMemory {
  std::shared_ptr<Block> block;
  std::shared_ptr<DeviceImage> image;
};
void DropMemory(void* memory) { delete static_cast<LentMemory*>(memory); }

}  // namespace

Lent::Lent(const KpDLTensor& given, const DeviceInUse* where, Role role, unsigned tag, std::string name,
           std::string parameter)
    : given_(given),
      where_(where),
      role_(role),
      tag_(tag),
      name_(std::move(name)),
      parameter_(std::move(parameter)),
      object_(kp_none()) {
  KpDLTensor placed = given;
  if (where && !where->HasAddresses()) placed.data = nullptr;
  const uint64_t origin = reinterpret_cast<uintptr_t>(placed.data) + placed.byte_offset;
  numel_ = NumElements(given);
  compact_ = IsCompact(given);
  const signature::Range range = signature::GetRange(placed);
  begin_ = numel_ ? range.begin : origin;
  bytes_ = range.end - range.begin;
  to_origin_ = origin - begin_;
  const auto ndim = static_cast<size_t>(given.ndim);
  dims_.resize(2 * ndim);
  if (ndim) std::memcpy(dims_.data(), given.shape, ndim * sizeof(int64_t));
  if (ndim && given.strides) std::memcpy(dims_.data() + ndim, given.strides, ndim * sizeof(int64_t));
  tensor_ = original_ = given;
  tensor_.shape = dims_.data();
  if (given.strides) tensor_.strides = dims_.data() + ndim;
}

int Lent::FetchBefore() {
  auto* begin = reinterpret_cast<char*>(begin_);
  if (where_ == nullptr) {
    std::memcpy(before_.get(), begin, bytes_);
    return 0;
  }
  if (where_->HasAddresses()) return where_->Fetch(begin, 0, before_.get(), bytes_);
  return where_->Fetch(given_.data, begin_, before_.get(), bytes_);
}

// Fills a result or a workspace before the call.
void Lent::FillUnwritten(char* at, Turn turn) const {
  const auto bytes = static_cast<uint64_t>(NumBytes(given_));
  if (role_ == Role::kWorkspace) {
    FillMark(at, bytes, GetMark(Mark::kWorkspace, turn));
  } else if (IsFloat(given_.dtype) || given_.dtype.code == KP_DTYPE_BOOL) {
    FillMark(at, bytes, GetMark(Mark::kUnwritten, turn));
  } else if (turn == Turn::kAgain) {
    FillMark(at, bytes, Mark::kZero);
  } else {
    for (uint64_t i = 0; i < bytes; ++i) at[i] = static_cast<char>(NoiseByte(i));
  }
}

int Lent::Fill(Turn turn) {
  const KpDLDataType dtype = role_ == Role::kWorkspace ? kUntyped : given_.dtype;
  const Pattern outside = OutsidePattern(tag_, dtype, role_ == Role::kInput, turn);
  block_ = std::make_shared<Block>(bytes_, begin_, outside);
  const bool copied = bytes_ != 0 && (KeepsContent() || !compact_);
  if (copied && (where_ || !compact_)) {
    before_.reset(new char[bytes_]);
    if (FetchBefore() != 0) return -1;
    original_.data = before_.get();
    original_.byte_offset = to_origin_;
    original_.device = kHere;
  }
  if (copied && !compact_ && FillGaps(outside) != 0) return -1;
  if (copied) std::memcpy(block_->data(), OriginalBytes(), bytes_);
  if (!KeepsContent() && bytes_ != 0) {
    std::unique_ptr<char[]> buffer;
    char* elements = Elements(&buffer);
    FillUnwritten(elements, turn);
    if (!compact_ && MoveElements(elements, /*to_block=*/true) != 0) return -1;
  }
  tensor_.data = block_->data() + to_origin_ - kOffset;
  tensor_.byte_offset = kOffset;
  if (where_ == nullptr) return 0;
  image_ = std::make_shared<DeviceImage>(*where_);
  if (image_->Make(*block_, /*from_data=*/false) != 0) return -1;
  tensor_.data = image_->handle();
  tensor_.byte_offset = image_->offset() + to_origin_;
  return 0;
}

// A kernel that forgets the strides reads between the elements. What the caller has there stays out of the copy.
int Lent::FillGaps(Pattern outside) {
  KpDLTensor filled = original_;
  filled.data = block_->data();
  FillPattern(block_->data(), bytes_, outside, 0);
  if (kp_copy(&original_, &filled) != 0) return -1;
  std::memcpy(before_.get(), block_->data(), bytes_);
  return 0;
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
  auto memory = std::make_unique<LentMemory>(LentMemory{image_ ? nullptr : block_, image_});
  if (kp_tensor_wrap(&tensor_, memory.get(), DropMemory, &object_) != 0) return -1;
  static_cast<void>(memory.release());  // the tensor's now
  kp_any_retain(&object_);  // a second reference of ours tells a kernel's release from one that was due
  *value = object_;
  return 0;
}

// The block's bytes as the tensor.
KpDLTensor Lent::InBlock() const {
  KpDLTensor copy = given_;
  copy.data = block_->data() + to_origin_;
  copy.byte_offset = 0;
  copy.device = kHere;
  return copy;
}

// Where the elements lie in row-major order: in the block where it is compact, else room for them in *buffer.
char* Lent::Elements(std::unique_ptr<char[]>* buffer) const {
  if (compact_) return block_->data();
  buffer->reset(new char[static_cast<size_t>(NumBytes(given_))]);
  return buffer->get();
}

int Lent::MoveElements(char* elements, bool to_block) const {
  const KpDLTensor copy = InBlock();
  KpDLTensor row = copy;
  row.data = elements;
  row.strides = nullptr;
  return to_block ? kp_copy(&row, &copy) : kp_copy(&copy, &row);
}

int Lent::GiveBack(const std::string& function) {
  const bool written = block_->bytes() && (role_ == Role::kMutated || role_ == Role::kResult);
  // Of a strided one its elements alone: what lies between them others may have written meanwhile.
  const KpDLTensor copy = InBlock();
  if (written && (where_ || !compact_) && kp_copy(&copy, &given_) != 0) return -1;
  if (written && !where_ && compact_) std::memcpy(reinterpret_cast<char*>(begin_), block_->data(), block_->bytes());
  ReleaseObject();
  if (!image_ && block_.use_count() == 1)
    KeepForAWhile(block_, function, name_);  // else the kernel has kept the tensor, as it may
  return 0;
}

}  // namespace kernpack::host::check
