// The C++ check of a call whose tensors are only described, for comparison with Python's solver.
#include <kernpack/signature/check.h>

#include <deque>
#include <string>
#include <vector>

#include "shared/drawn_extents.h"

namespace {

namespace sig = kp::signature;

// Arguments, and what they borrow. Every tensor has an address range of its own; nothing reads the memory.
class Arguments {
 public:
  KpAny make(kp::AnyView given) {
    const auto described = given.try_cast<kp::Array>();
    if (!described) return given.raw();
    return (*described)[0].cast<std::string>() == "tensor" ? tensor(*described) : list(*described);
  }

  KpAny* data() { return values.data(); }
  std::vector<KpAny> values;

 private:
  // ["tensor", dtype, device, shape, strides or None]
  KpAny tensor(const kp::Array& described) {
    KpDLTensor& t = tensors_.emplace_back();
    t.data = reinterpret_cast<void*>(next_address_);
    next_address_ += uintptr_t{1} << 40;
    t.dtype = described[1].raw().v.v_dtype;
    t.device = described[2].raw().v.v_device;
    std::vector<int64_t>& shape = sizes(described[3]);
    t.ndim = static_cast<int32_t>(shape.size());
    t.shape = shape.data();
    t.strides = described[4].is_none() ? nullptr : sizes(described[4]).data();
    KpAny a = kp_none();
    a.type_index = KP_TYPE_DLTENSOR_PTR;
    a.v.v_tensor = &t;
    return a;
  }

  std::vector<int64_t>& sizes(kp::AnyView given) {
    std::vector<int64_t>& found = sizes_.emplace_back();
    const auto items = given.cast<kp::Array>();
    for (size_t i = 0; i < items.size(); ++i) found.push_back(items[i].cast<int64_t>());
    found.reserve(1);  // a shape, though it is of rank 0
    return found;
  }

  // ["list", item, ...]
  KpAny list(const kp::Array& described) {
    List& made = lists_.emplace_back();
    for (size_t i = 1; i < described.size(); ++i) made.items.push_back(make(described[i]));
    made.body.header.counts = 1 | uint64_t{1} << 32;
    made.body.header.type_index = KP_TYPE_ARRAY;
    made.body.data = made.items.data();
    made.body.size = made.body.capacity = static_cast<int64_t>(made.items.size());
    KpAny a = kp_none();
    a.type_index = KP_TYPE_ARRAY;
    a.v.v_obj = &made.body.header;
    return a;
  }

  struct List {
    KpSequenceObject body{};
    std::vector<KpAny> items;
  };
  std::deque<KpDLTensor> tensors_;
  std::deque<std::vector<int64_t>> sizes_;
  std::deque<List> lists_;
  uintptr_t next_address_ = uintptr_t{1} << 41;
};

int keep(void* text, const char* kind, KpBytes message) {
  *static_cast<std::string*>(text) = std::string(kind) + ": " + std::string(message.data, message.size);
  return -1;
}

}  // namespace

// "ValueError: ...", or "f32[2, 3] i64[] 12 bytes": the results, then the workspace.
std::string check(int64_t program, bool traced, kp::Array given) {
  const auto* words = reinterpret_cast<const uint32_t*>(program);
  Arguments arguments;
  for (size_t i = 0; i < given.size(); ++i) arguments.values.push_back(arguments.make(given[i]));
  arguments.values.reserve(1);
  std::string text;
  const sig::Raiser raiser{&text, &keep};
  KpSigFrame frame;
  const kernpack::host::DrawnExtents drawn;
  if (sig::Check(words, "f", arguments.data(), nullptr, traced ? KP_SIG_ABSTRACT : 0, raiser, &frame, drawn))
    return text;
  kp::Text found;
  for (int i = 0; i < sig::View{words}.NumResults(); ++i) {
    int64_t shape[KP_MAX_NDIM];
    KpDLTensor result;
    if (sig::ResultPrototype(frame, "f", i, raiser, shape, &result)) return text;
    found << result.dtype << '[';
    for (int32_t j = 0; j < result.ndim; ++j) found << (j ? ", " : "") << shape[j];
    found << "] ";
    if (!traced) found << "on " << result.device << ' ';
  }
  uint64_t bytes = 0;
  if (sig::WorkspaceBytes(frame, "f", raiser, &bytes)) return text;
  if (sig::View{words}.HasWorkspace()) found << bytes << " bytes";
  const KpBytes all = found.bytes();
  return std::string(all.data, all.size);
}
