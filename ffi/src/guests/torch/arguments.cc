#include "guests/torch/arguments.h"

#include <cstring>

#include <kernpack/host/signature.h>

#include "guests/torch/dtype.h"

namespace kernpack::torch {
namespace {

template <class Handle>
Handle AsHandle(Value value) {
  return reinterpret_cast<Handle>(static_cast<uintptr_t>(value));
}

constexpr Op::Param kDestination = {KP_PARAM_TENSOR, KP_PARAM_MUTATED};

}  // namespace

void Arguments::Take(const Value* stack, size_t num_inputs) {
  items_ = arena_.Take<Item>(num_inputs);
  for (size_t i = 0; i < num_inputs; ++i) {
    const Op::Param& param = i < op_.params.size() ? op_.params[i] : kDestination;
    Item* item = &items_[i];
    *item = {stack[i], true, nullptr, 0};
    if (param.flags & KP_PARAM_OPTIONAL) {  // a pointer to the value, or none
      auto* boxed = AsHandle<Value*>(stack[i]);
      item->present = boxed != nullptr;
      if (boxed == nullptr) continue;
      item->value = *boxed;
      if (shim_.torch_delete_stable_ivalue != nullptr) {
        shim_.torch_delete_stable_ivalue(boxed);
      } else {
        delete boxed;  // before torch 2.13 it comes from plain new
      }
    }
    if (param.flags & KP_PARAM_LIST) TakeList(item, param.kind);
    count_ = i + 1;
  }
  count_ = num_inputs;
}

void Arguments::TakeList(Item* item, uint32_t kind) {
  auto* list = AsHandle<List>(item->value);
  size_t size = 0;
  shim_.torch_list_size(list, &size);
  item->items = arena_.Take<Value>(size);
  for (; item->num_items < size; ++item->num_items) {
    if (shim_.torch_list_get_item(list, item->num_items, &item->items[item->num_items]) != 0) break;
  }
  shim_.torch_delete_list(list);
  if (item->num_items == size) return;
  while (item->num_items > 0) Release(item->items[--item->num_items], kind);
}

void Arguments::Release(Value value, uint32_t kind) {
  if (kind == KP_PARAM_TENSOR) shim_.aoti_torch_delete_tensor_object(AsHandle<Tensor>(value));
  if (kind == KP_PARAM_STR) shim_.torch_delete_string(AsHandle<String>(value));
}

Arguments::~Arguments() {
  for (size_t i = 0; i < count_; ++i) {
    const Op::Param& param = i < op_.params.size() ? op_.params[i] : kDestination;
    const Item& item = items_[i];
    if (!item.present) continue;
    if (param.flags & KP_PARAM_LIST) {
      for (size_t j = 0; j < item.num_items; ++j) Release(item.items[j], param.kind);
    } else {
      Release(item.value, param.kind);
    }
  }
}

const char* Arguments::NameAt(size_t place) const {
  const uint32_t* program = op_.function->program;
  if (place < op_.params.size()) {
    KpSigParam param;
    kp_sig_param(program, static_cast<int32_t>(place), &param);
    return param.name;
  }
  KpSigResult result;
  kp_sig_result(program, static_cast<int32_t>(place - op_.params.size()), &result);
  return result.name;
}

int Arguments::View(Tensor tensor, size_t place, bool mutated, KpAny* out) {
  int64_t rank = 0;
  int64_t *sizes = nullptr, *strides = nullptr;
  int32_t dtype = 0, device_type = 0, device_index = 0;
  void* data = nullptr;
  int rc = shim_.aoti_torch_get_dim(tensor, &rank) | shim_.aoti_torch_get_sizes(tensor, &sizes) |
           shim_.aoti_torch_get_strides(tensor, &strides) | shim_.aoti_torch_get_dtype(tensor, &dtype) |
           shim_.aoti_torch_get_device_type(tensor, &device_type) |
           shim_.aoti_torch_get_device_index(tensor, &device_index);
  if (rc == 0) {  // a tensor that is only read may stay a lazy copy
    const void* read_only = nullptr;
    rc = mutated ? shim_.torch_get_mutable_data_ptr(tensor, &data) : shim_.torch_get_const_data_ptr(tensor, &read_only);
    if (!mutated) data = const_cast<void*>(read_only);
  }
  if (rc != 0) return RaiseNotRead("reading a tensor (sparse, quantised and meta tensors have no memory to read)");
  const KpDLDataType type = DTypeFromTorch(dtype);
  const KpDLDevice device = DeviceFromTorch(device_type, device_index);
  if (type.bits == 0) {  // as kpy_torch_check_dtype of direct calls says it
    const char* name = ForeignDTypeName(dtype);
    return kp_raise(
        "TypeError",
        "%s: %s: expected a dtype that contracts can name, got %s%s: pass its bytes, as by x.view(torch.uint8)",
        op_.function->name, NameAt(place), name ? "torch." : "", name ? name : "one that is newer than this kernpack");
  }
  if (device.device_type == 0) {
    return kp_raise("TypeError", "%s: %s: a tensor has torch's device type number %d, which kernels cannot take",
                    op_.function->name, NameAt(place), device_type);
  }
  auto* view = arena_.Take<KpDLTensor>(1);
  *view = {data, device, static_cast<int32_t>(rank), type, sizes, strides, 0};
  *out = kp_none();
  out->type_index = KP_TYPE_DLTENSOR_PTR;
  out->v.v_tensor = view;
  return 0;
}

int Arguments::Scalar(uint32_t kind, Value value, KpAny* out) {
  *out = kp_none();
  switch (kind) {
    case KP_PARAM_INT:
      out->type_index = KP_TYPE_INT;
      out->v.v_bits = value;
      return 0;
    case KP_PARAM_FLOAT:
      out->type_index = KP_TYPE_FLOAT;
      std::memcpy(&out->v.v_float, &value, sizeof(double));
      return 0;
    case KP_PARAM_BOOL:
      out->type_index = KP_TYPE_BOOL;
      out->v.v_int = (value & 0xff) != 0;
      return 0;
    case KP_PARAM_DTYPE:
      out->type_index = KP_TYPE_DTYPE;
      out->v.v_dtype = DTypeFromTorch(static_cast<int32_t>(value));
      if (out->v.v_dtype.bits != 0) return 0;
      return kp_raise("TypeError", "%s: torch's dtype number %d isn't one that kernels know", op_.function->name,
                      static_cast<int>(value));
    case KP_PARAM_DEVICE:
      out->type_index = KP_TYPE_DEVICE;
      out->v.v_device = DeviceFromTorch(static_cast<int32_t>(value >> 32), static_cast<int32_t>(value & 0xffffffffu));
      if (out->v.v_device.device_type != 0) return 0;
      return kp_raise("TypeError", "%s: torch's device type number %d isn't one that kernels know", op_.function->name,
                      static_cast<int>(value >> 32));
    default:
      out->type_index = KP_TYPE_RAW_STR;
      return shim_.torch_string_c_str(AsHandle<String>(value), &out->v.v_c_str) == 0 ? 0
                                                                                     : RaiseNotRead("reading a str");
  }
}

int Arguments::One(size_t index, Value value, KpAny* out) {
  const Op::Param& param = op_.params[index];
  if (param.kind != KP_PARAM_TENSOR) return Scalar(param.kind, value, out);
  return View(AsHandle<Tensor>(value), index, (param.flags & KP_PARAM_MUTATED) != 0, out);
}

int Arguments::Parameter(size_t index, KpAny* out) {
  const Op::Param& param = op_.params[index];
  const Item& item = items_[index];
  *out = kp_none();
  if (!item.present) return 0;
  if (!(param.flags & KP_PARAM_LIST)) return One(index, item.value, out);
  auto* values = arena_.Take<KpAny>(item.num_items);
  for (size_t i = 0; i < item.num_items; ++i) {
    if (One(index, item.items[i], &values[i]) != 0) return -1;
  }
  // An ARRAY that lives as long as this object. Its items are borrowed, as those that XLA's handler makes.
  auto* list = arena_.Take<KpSequenceObject>(1);
  *list = {};
  list->header.counts = 1 | uint64_t{1} << 32;
  list->header.type_index = KP_TYPE_ARRAY;
  list->data = values;
  list->size = static_cast<int64_t>(item.num_items);
  list->capacity = list->size;
  out->type_index = KP_TYPE_ARRAY;
  out->v.v_obj = &list->header;
  return 0;
}

int Arguments::Destination(size_t index, KpAny* out) {
  const size_t place = op_.params.size() + index;
  return View(AsHandle<Tensor>(items_[place].value), place, true, out);
}

}  // namespace kernpack::torch
