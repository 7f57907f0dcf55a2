#include "guests/xla/plan.h"

#include <kernpack/host/signature.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "devices/call/context.h"
#include "guests/xla/static_call.h"
#include "guests/xla/dtype.h"

namespace kernpack::xla {
namespace {

const Buffer& GetBuffer(const BufferList& list, int64_t index) {
  return *static_cast<const Buffer*>(list.items[index]);
}

KpAny Tagged(int32_t type_index) {
  KpAny value = {};
  value.type_index = type_index;
  return value;
}

// Its items are borrowed views, so a function that keeps the list gets a TypeError, as for a tensor that it tries to keep.
KpSequenceObject BorrowedList(int64_t size) {
  KpSequenceObject list = {};
  list.header.counts = 1 | uint64_t{1} << 32;
  list.header.type_index = KP_TYPE_ARRAY;
  list.size = list.capacity = size;
  return list;
}

// The parts of a plan while they grow.
class Builder {
 public:
  Builder(const StaticCall& call, KpDLDevice device) : call_(call), name_(call.function->name), device_(device) {}

  int View(const CallFrame& frame) {
    const int64_t expected_results = call_.num_mutated + call_.num_results + call_.has_workspace;
    if (frame.arguments.size != call_.num_buffers || frame.results.size != expected_results) {
      return kp_raise("TypeError", "%s: expected %d operands and %d results in the XLA call, got %d and %d", name_,
                      call_.num_buffers, static_cast<int>(expected_results), static_cast<int>(frame.arguments.size),
                      static_cast<int>(frame.results.size));
    }
    return ViewAll(frame.arguments) || ViewAll(frame.results) ? -1 : 0;
  }

  // In the order of the calling convention: parameters, results, workspace.
  void AddValues() {
    const size_t parameters = call_.arguments.size();
    num_values_ = parameters + static_cast<size_t>(call_.num_results) + call_.has_workspace;
    values_.resize(num_values_);
    uint32_t next = 0;
    for (size_t i = 0; i < parameters; ++i) {
      const StaticCall::Argument& argument = call_.arguments[i];
      if (argument.kind == StaticCall::Argument::kConstant) {
        values_[i] = argument.constant;
      } else if (argument.kind == StaticCall::Argument::kTensor) {
        AddTensor(i, next);
      } else {
        AddList(i, next, argument.count);
      }
      for (int32_t j = 0; argument.mutated && j < argument.count; ++j) {
        aliases_.push_back({next + static_cast<uint32_t>(j), NumOperands() + static_cast<uint32_t>(aliases_.size())});
      }
      next += static_cast<uint32_t>(argument.count);
    }
    next += static_cast<uint32_t>(call_.num_mutated);
    for (size_t i = parameters; i < num_values_; ++i) AddTensor(i, next++);
  }

  Plan::Owned Finish() const {
    Block block;
    Lay(&block);
    block.base = static_cast<std::byte*>(::operator new(block.used));
    block.used = 0;
    return Plan::Owned(Lay(&block));
  }

  int Check(const Plan& plan) const {
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(plan.call_bytes);
    auto* tensors = reinterpret_cast<KpDLTensor*>(memory.get());
    KpAny* values = Copy(plan, tensors);
    KpSigFrame checked;
    KpAny* results = values + call_.arguments.size();
    if (kp_sig_check(call_.function->program, name_, values, results, 0, &checked)) return -1;
    // XLA gives all of it; the workspace is the last result.
    struct Given {
      const char* function;
      const KpDLTensor& workspace;
    } given{name_, tensors[tensors_.size() - 1]};
    const auto suffices = [](void* self, const KpDLTensor* wanted, KpAny*) {
      const Given& one = *static_cast<const Given*>(self);
      if (one.workspace.ndim == 1 && one.workspace.shape[0] >= wanted->shape[0]) return 0;
      return kp_raise("ValueError", "%s: expected a workspace of %lld bytes as the last XLA result", one.function,
                      static_cast<long long>(wanted->shape[0]));
    };
    const KpSigMemory from_xla = {&given, nullptr, suffices};
    return kp_sig_lend(&checked, name_, &from_xla, results);
  }

 private:
  // One allocation, filled front to back; without `base` it only adds up sizes.
  struct Block {
    std::byte* base = nullptr;
    size_t used = 0;

    template <typename T>
    T* Take(size_t count) {
      const size_t at = used;
      used += (count * sizeof(T) + 7) & ~size_t{7};
      return base ? reinterpret_cast<T*>(base + at) : nullptr;
    }
    template <typename T>
    T* Copy(const std::vector<T>& from) {
      T* to = Take<T>(from.size());
      if (to) std::copy(from.begin(), from.end(), to);
      return to;
    }
  };

  uint32_t NumOperands() const { return static_cast<uint32_t>(call_.num_buffers); }

  int ViewAll(const BufferList& list) {
    for (int64_t i = 0; i < list.size; ++i) {
      const Buffer& buffer = GetBuffer(list, i);
      const KpDLDataType dtype = ToDLPack(buffer.dtype);
      if (list.types[i] != kBufferArgument || dtype.bits == 0) {
        return kp_raise("TypeError", "%s: operand or result %d of the XLA call isn't a tensor (XLA element type %d)",
                        name_, static_cast<int>(i), static_cast<int>(buffer.dtype));
      }
      const auto rank = static_cast<size_t>(buffer.rank);
      auto& extents = extents_.emplace_back(2 * rank);
      std::copy_n(buffer.dims, rank, extents.begin());
      int64_t* shape = extents.data();
      kp_row_major_strides(static_cast<int32_t>(rank), shape, shape + rank);
      tensors_.push_back({buffer.data, device_, static_cast<int32_t>(rank), dtype, shape, shape + rank, 0});
      dtypes_.push_back(buffer.dtype);
    }
    return 0;
  }

  void AddTensor(size_t value, uint32_t tensor) {
    values_[value] = Tagged(KP_TYPE_DLTENSOR_PTR);
    tensor_values_.push_back({static_cast<uint32_t>(value), tensor});
  }

  void AddList(size_t value, uint32_t first, int32_t count) {
    values_[value] = Tagged(KP_TYPE_ARRAY);
    list_values_.push_back(static_cast<uint32_t>(value));
    list_items_.push_back(static_cast<uint32_t>(values_.size()));
    lists_.push_back(BorrowedList(count));
    for (int32_t i = 0; i < count; ++i) {
      values_.emplace_back();
      AddTensor(values_.size() - 1, first + static_cast<uint32_t>(i));
    }
  }

  // Fields that every execution reads come first.
  const Plan* Lay(Block* block) const {
    Plan* plan = block->Take<Plan>(1);
    Plan out = {};
    out.name = name_;
    out.device = device_;
    out.call_bytes = tensors_.size() * sizeof(KpDLTensor) + values_.size() * sizeof(KpAny) +
                     lists_.size() * sizeof(KpSequenceObject);
    out.num_operands = NumOperands();
    out.num_tensors = static_cast<int64_t>(tensors_.size());
    out.num_values = static_cast<uint32_t>(num_values_);
    out.num_all_values = static_cast<uint32_t>(values_.size());
    out.num_tensor_values = static_cast<uint32_t>(tensor_values_.size());
    out.num_lists = static_cast<uint32_t>(lists_.size());
    out.num_aliases = static_cast<uint32_t>(aliases_.size());
    KpDLTensor* tensors = block->Copy(tensors_);
    out.tensors = tensors;
    out.values = block->Copy(values_);
    out.lists = block->Copy(lists_);
    out.tensor_values = block->Copy(tensor_values_);
    out.dtypes = block->Copy(dtypes_);
    for (size_t i = 0; i < extents_.size(); ++i) {
      int64_t* shape = block->Copy(extents_[i]);
      if (!tensors) continue;
      tensors[i].shape = shape;
      tensors[i].strides = shape + tensors[i].ndim;
    }
    out.list_values = block->Copy(list_values_);
    out.list_items = block->Copy(list_items_);
    out.aliases = block->Copy(aliases_);
    if (plan) *plan = out;
    return plan;
  }

  const StaticCall& call_;
  const char* name_;
  KpDLDevice device_;
  size_t num_values_ = 0;
  std::vector<KpAny> values_;
  std::vector<KpDLTensor> tensors_;
  std::vector<Plan::TensorValue> tensor_values_;
  std::vector<DataType> dtypes_;
  std::vector<std::vector<int64_t>> extents_;  // of each tensor: shape, then strides
  std::vector<KpSequenceObject> lists_;
  std::vector<uint32_t> list_values_;
  std::vector<uint32_t> list_items_;
  std::vector<Plan::Alias> aliases_;
};

bool HasShape(const Buffer& buffer, DataType dtype, const KpDLTensor& tensor) {
  if (buffer.dtype != dtype || buffer.rank != tensor.ndim) return false;
  for (int32_t d = 0; d < tensor.ndim; ++d) {
    if (buffer.dims[d] != tensor.shape[d]) return false;
  }
  return true;
}

bool SameShapes(const BufferList& list, int64_t count, const KpDLTensor* tensors, const DataType* dtypes) {
  if (list.size != count) return false;
  for (int64_t i = 0; i < count; ++i) {
    if (list.types[i] != kBufferArgument || !HasShape(GetBuffer(list, i), dtypes[i], tensors[i])) return false;
  }
  return true;
}

}  // namespace

bool Fits(const Plan& plan, const CallFrame& frame, KpDLDevice device) {
  return host::SameDevice(plan.device, device) &&
         SameShapes(frame.arguments, plan.num_operands, plan.tensors, plan.dtypes) &&
         SameShapes(frame.results, plan.num_tensors - plan.num_operands, plan.tensors + plan.num_operands,
                    plan.dtypes + plan.num_operands);
}

int MakePlan(const CallFrame& frame, const StaticCall& call, KpDLDevice device, Plan::Owned* out) {
  Builder builder(call, device);
  if (builder.View(frame)) return -1;
  builder.AddValues();
  Plan::Owned plan = builder.Finish();
  if (builder.Check(*plan)) return -1;
  *out = std::move(plan);
  return 0;
}

}  // namespace kernpack::xla
