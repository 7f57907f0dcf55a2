// Values of one program in one run; what can be kept is kept for the next run.
#ifndef KERNPACK_SDK_PROGRAMS_EXECUTE_FRAME_H_
#define KERNPACK_SDK_PROGRAMS_EXECUTE_FRAME_H_

#include <array>
#include <deque>
#include <memory>

#include "execute/memory.h"
#include "execute/resolved_plan.h"

namespace kernpack::sdk::program {

struct Slot {
  KpAny any = kp_none();  // what steps are given for the value
  bool owned = false;  // `any` is a reference of this slot's
  // Of a tensor that a step with a signature, or a copy, made: its shape lasts until the next run.
  KpDLTensor tensor{};
  std::vector<int64_t> shape;
  uint64_t bytes = 0;

  Slot() = default;
  Slot(Slot&&) = delete;
  ~Slot() { Release(); }

  void Borrow(const KpAny& value) {
    Release();
    any = value;
  }
  void Own(const KpAny& value) {
    Release();
    any = value;
    owned = true;
  }
  void Release() {
    if (owned) kp_any_release(&any);
    any = kp_none();
    owned = false;
  }
  // Describes `tensor`, except for its data.
  void Describe(KpDLDevice device, KpDLDataType dtype, const int64_t* sizes, int32_t ndim) {
    shape.assign(sizes, sizes + ndim);
    tensor = {nullptr, device, ndim, dtype, shape.data(), nullptr, 0};
    bytes = DeviceAPI::GetDataSize(tensor);
  }
  // The value is what `tensor` describes, with these data.
  void Point(void* data) {
    Release();
    tensor.data = data;
    any.type_index = KP_TYPE_DLTENSOR_PTR;
    any.v.v_tensor = &tensor;
  }
};

// A tuple as an argument: an ARRAY whose items the frame's slots own.
struct Items {
  KpSequenceObject object{};
  std::vector<KpAny> values;
};

struct Frame {
  explicit Frame(const ResolvedProgram* of)
      : program(of),
        slots(of->values.size()),
        blocks(of->planned->buffers.size()),
        events(of->steps.size()),
        children(of->steps.size()),
        tuples(of->steps.size()),
        workspace_bytes(of->steps.size()),
        given(of->program->results.size(), kp_none()),
        symbols(of->num_symbols),
        last_params(of->program->params.size(), kp_none()) {}

  const ResolvedProgram* program;
  std::deque<Slot> slots;  // one per value; they stay where they are
  std::vector<DeviceBlock> blocks;  // one a buffer of the plan
  std::vector<DeviceEvent> events;  // one per step; of those that others wait for
  // Of each step: the frame of the program that it calls, for `then` and `otherwise`.
  std::vector<std::array<std::unique_ptr<Frame>, 2>> children;
  std::vector<std::unique_ptr<Items>> tuples;  // of each step that makes one
  std::vector<uint64_t> workspace_bytes;  // of each step
  std::vector<KpAny> given;  // where results go; NONE: to a new tensor
  std::vector<int64_t> symbols;  // values of the program's symbols
  std::vector<KpAny> last_params;  // the scalars of the last run
  // True if the last run succeeded and this run has inputs with equal types: the slots then have their shapes.
  bool complete = false;
  bool warm = false;
  // Of the call in progress.
  std::vector<KpAny> args;
  std::deque<KpDLTensor> aliases;  // arguments in memory of another device, as if it were the call's

  void Release() {
    for (Slot& slot : slots) slot.Release();
  }
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_EXECUTE_FRAME_H_
