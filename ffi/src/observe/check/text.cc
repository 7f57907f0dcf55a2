#include "observe/check/text.h"

#include <cstring>

#include <kernpack/signature/program.h>

#include "base/python_text.h"
#include "values/tensor/dltensor.h"

namespace kernpack::host::check {
namespace {

template <class T>
T ReadAs(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::string ValueTextAt(const KpAny& value, int depth);

std::string ListText(const KpAny& value, int depth) {
  constexpr int64_t kMost = 8;
  const auto* list = reinterpret_cast<const KpSequenceObject*>(value.v.v_obj);
  std::string out = "[";
  for (int64_t i = 0; i < list->size && i < kMost; ++i) out += (i ? ", " : "") + ValueTextAt(list->data[i], depth + 1);
  if (list->size > kMost) out += ", ... " + std::to_string(list->size) + " in all";
  return out + "]";
}

}  // namespace

std::string TensorText(const KpDLTensor& tensor) {
  std::string out = kp_dtype_name(tensor.dtype);
  out += '[';
  for (int32_t i = 0; i < tensor.ndim; ++i) out += (i ? ", " : "") + std::to_string(tensor.shape[i]);
  out += ']';
  if (tensor.device.device_type == KP_DEVICE_CPU) return out;
  return out + " on " + DeviceText(tensor.device);
}

namespace {

std::string ValueTextAt(const KpAny& value, int depth) {
  if (const KpDLTensor* tensor = kp_any_tensor(&value)) return TensorText(*tensor);
  if (const auto text = PythonText(value)) return *text;
  KpBytes text{};
  if (kp_any_str(&value, &text)) {
    constexpr size_t kMost = 60;
    return "'" + std::string(text.data, text.size < kMost ? text.size : kMost) + (text.size > kMost ? "...'" : "'");
  }
  switch (value.type_index) {
    case KP_TYPE_DTYPE:
      return kp_dtype_name(value.v.v_dtype);
    case KP_TYPE_DEVICE:
      return DeviceText(value.v.v_device);
    case KP_TYPE_ARRAY:
    case KP_TYPE_LIST:
      return depth < kMostNested ? ListText(value, depth) : "[...]";
    default:
      return std::string("<") + kp_type_name(value.type_index) + ">";
  }
}

}  // namespace

std::string ValueText(const KpAny& value) { return ValueTextAt(value, 0); }

std::string ElementName(const KpDLTensor& tensor, int64_t element) {
  if (tensor.ndim == 0) return "the value of " + TensorText(tensor);
  std::string out = "]";
  for (int32_t i = tensor.ndim; i-- > 0;) {
    const int64_t size = tensor.shape[i] > 0 ? tensor.shape[i] : 1;
    out.insert(0, (i ? ", " : "") + std::to_string(element % size));
    element /= size;
  }
  return "element [" + out + " of " + TensorText(tensor);
}

std::string ReachText(const Block::Reach& reach, uint64_t unit_bytes, const char* unit) {
  const uint64_t nearest = (reach.nearest + unit_bytes - 1) / unit_bytes;
  const uint64_t farthest = (reach.farthest + unit_bytes - 1) / unit_bytes;
  std::string out = std::to_string(nearest);
  if (farthest != nearest) out += " to " + std::to_string(farthest);
  return out + " " + unit + (farthest == 1 ? "" : "s");
}

std::string ElementText(KpDLDataType dtype, const void* at) {
  if (dtype.lanes != 1) return "";
  if (dtype.code == KP_DTYPE_FLOAT && dtype.bits == 32) return PythonFloat(static_cast<double>(ReadAs<float>(at)));
  if (dtype.code == KP_DTYPE_FLOAT && dtype.bits == 64) return PythonFloat(ReadAs<double>(at));
  if (dtype.code == KP_DTYPE_BOOL) return std::to_string(ReadAs<uint8_t>(at));
  if (dtype.code != KP_DTYPE_INT && dtype.code != KP_DTYPE_UINT) return "";
  const bool is_signed = dtype.code == KP_DTYPE_INT;
  switch (dtype.bits) {
    case 8:
      return std::to_string(is_signed ? int{ReadAs<int8_t>(at)} : int{ReadAs<uint8_t>(at)});
    case 16:
      return std::to_string(is_signed ? int{ReadAs<int16_t>(at)} : int{ReadAs<uint16_t>(at)});
    case 32:
      return std::to_string(is_signed ? int64_t{ReadAs<int32_t>(at)} : int64_t{ReadAs<uint32_t>(at)});
    case 64:
      return is_signed ? std::to_string(ReadAs<int64_t>(at)) : std::to_string(ReadAs<uint64_t>(at));
    default:
      return "";
  }
}

// Tensors by place, as they are passed; everything else, and what is passed by keyword only, by name.
std::string CallText(const KpLoadedFunction& function, const KpAny* args, int32_t num_args) {
  std::string out = std::string(function.module_name) + "." + function.name + "(";
  const signature::View program{function.program};
  const int32_t params = function.program ? program.NumParams() : num_args;
  for (int32_t i = 0; i < params && i < num_args; ++i) {
    if (i) out += ", ";
    const bool named = function.program && (signature::GetKind(program.Param(i)) != KP_PARAM_TENSOR ||
                                            args[i].type_index == KP_TYPE_NONE || i >= program.NumPositional());
    if (named) out += std::string(program.ParamName(i)) + "=";
    out += ValueText(args[i]);
  }
  return out + ")";
}

}  // namespace kernpack::host::check
