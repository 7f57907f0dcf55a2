#include "guests/xla/attributes.h"

#include <kernpack/host/host.h>

#include <cstring>
#include <limits>
#include <string>

namespace kernpack::xla {
namespace {

std::string_view View(const Span& span) { return {span.data, span.size}; }
int Length(std::string_view text) { return static_cast<int>(text.size()); }

const char* GetName(AttributeType type) {
  switch (type) {
    case AttributeType::kArray:
      return "an array";
    case AttributeType::kDictionary:
      return "a dictionary";
    case AttributeType::kScalar:
      return "a scalar";
    case AttributeType::kString:
      return "a string";
  }
  return "an attribute of an unknown type";
}

const char* Expected(uint32_t kind) {
  switch (kind) {
    case KP_PARAM_INT:
      return "int";
    case KP_PARAM_FLOAT:
      return "float";
    case KP_PARAM_BOOL:
      return "bool";
    case KP_PARAM_DTYPE:
      return "the name of a dtype";
    case KP_PARAM_DEVICE:
      return "the name of a device";
    default:
      return "str";
  }
}

template <typename T>
T Load(const void* items, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(items) + index * sizeof(T), sizeof(T));
  return value;
}

bool LoadInt(DataType dtype, const void* items, size_t index, int64_t* out) {
  switch (dtype) {
    case DataType::kS8:
      *out = Load<int8_t>(items, index);  // NOLINT(bugprone-signed-char-misuse): a number, not a character
      return true;
    case DataType::kS16:
      *out = Load<int16_t>(items, index);
      return true;
    case DataType::kS32:
      *out = Load<int32_t>(items, index);
      return true;
    case DataType::kS64:
      *out = Load<int64_t>(items, index);
      return true;
    case DataType::kU8:
      *out = Load<uint8_t>(items, index);
      return true;
    case DataType::kU16:
      *out = Load<uint16_t>(items, index);
      return true;
    case DataType::kU32:
      *out = Load<uint32_t>(items, index);
      return true;
    case DataType::kU64:
      *out = Load<int64_t>(items, index);
      return *out >= 0;
    default:
      return false;
  }
}

bool LoadFloat(DataType dtype, bool bits, const void* items, size_t index, double* out) {
  if (dtype == (bits ? DataType::kS64 : DataType::kF64)) {
    *out = Load<double>(items, index);
    return true;
  }
  if (dtype == DataType::kF32 && !bits) {
    *out = static_cast<double>(Load<float>(items, index));
    return true;
  }
  return false;
}

// One number of an attribute as a value of the parameter's kind; false where the types do not go together.
bool LoadNumber(uint32_t kind, DataType dtype, bool bits, const void* items, size_t index, KpAny* out) {
  *out = kp_none();
  if (kind == KP_PARAM_INT) {
    out->type_index = KP_TYPE_INT;
    return LoadInt(dtype, items, index, &out->v.v_int);
  }
  if (kind == KP_PARAM_FLOAT) {
    out->type_index = KP_TYPE_FLOAT;
    return LoadFloat(dtype, bits, items, index, &out->v.v_float);
  }
  if (kind == KP_PARAM_BOOL && dtype == DataType::kPred) {
    out->type_index = KP_TYPE_BOOL;
    out->v.v_int = Load<uint8_t>(items, index) != 0;
    return true;
  }
  return false;
}

bool IsText(uint32_t kind) { return kind == KP_PARAM_STR || kind == KP_PARAM_DTYPE || kind == KP_PARAM_DEVICE; }

int LoadText(uint32_t kind, const Span& span, KpAny* out) {
  const KpBytes text = {span.data, span.size};
  if (kind == KP_PARAM_STR) return kp_string_new(text, out);
  *out = kp_none();
  if (kind == KP_PARAM_DTYPE) {
    out->type_index = KP_TYPE_DTYPE;
    return kp_dtype_from_name(text, &out->v.v_dtype);
  }
  out->type_index = KP_TYPE_DEVICE;
  return kp_device_from_name(text, &out->v.v_device);
}

}  // namespace

AttributeReader::AttributeReader(const Attributes& attributes)
    : attributes_(attributes), read_(static_cast<size_t>(attributes.size), false) {}

int64_t AttributeReader::FindParameter(const std::string& name) {
  const int64_t i = Find(name);
  return i >= 0 ? i : Find("kp.arg." + name);
}

int64_t AttributeReader::Find(std::string_view name) {
  for (int64_t i = 0; i < attributes_.size; ++i) {
    if (View(*attributes_.names[i]) != name) continue;
    read_[static_cast<size_t>(i)] = true;
    return i;
  }
  return -1;
}

int AttributeReader::Missing(std::string_view name) {
  return kp_raise("TypeError", "%s: the XLA call has no attribute '%.*s'; call the function through kernpack.jax",
                  function_, Length(name), name.data());
}

int AttributeReader::Wrong(std::string_view name, const char* expected, AttributeType got) {
  return kp_raise("TypeError", "%s: %.*s: expected %s, got %s of another type as XLA attribute", function_,
                  Length(name), name.data(), expected, GetName(got));
}

int AttributeReader::String(std::string_view name, bool required, std::string_view* out) {
  *out = {};
  const int64_t i = Find(name);
  if (i < 0) return required ? Missing(name) : 0;
  if (attributes_.types[i] != AttributeType::kString) return Wrong(name, "str", attributes_.types[i]);
  *out = View(*static_cast<const Span*>(attributes_.values[i]));
  return 0;
}

int AttributeReader::Value(const KpSigParam& parameter, KpAny* out) {
  int64_t i = FindParameter(parameter.name);
  const bool bits = i < 0 && parameter.kind == KP_PARAM_FLOAT;
  if (bits) i = FindParameter(std::string(parameter.name) + ".bits");
  if (i < 0) return Missing(parameter.name);
  if (parameter.flags & KP_PARAM_LIST) return ListValue(parameter, i, bits, out);
  const AttributeType type = attributes_.types[i];
  if (IsText(parameter.kind) && type == AttributeType::kString) {
    return LoadText(parameter.kind, *static_cast<const Span*>(attributes_.values[i]), out);
  }
  if (type == AttributeType::kScalar) {
    const auto& scalar = *static_cast<const Scalar*>(attributes_.values[i]);
    if (LoadNumber(parameter.kind, scalar.dtype, bits, scalar.value, 0, out)) return 0;
  }
  return Wrong(parameter.name, Expected(parameter.kind), type);
}

int AttributeReader::ListValue(const KpSigParam& parameter, int64_t index, bool bits, KpAny* out) {
  const AttributeType type = attributes_.types[index];
  std::vector<KpAny> items;
  int rc = 0;
  bool fits = false;
  if (type == AttributeType::kArray && !IsText(parameter.kind)) {
    const auto& array = *static_cast<const Array*>(attributes_.values[index]);
    items.resize(array.size);
    fits = true;
    for (size_t i = 0; fits && i < array.size; ++i) {
      fits = LoadNumber(parameter.kind, array.dtype, bits, array.data, i, &items[i]);
    }
  } else if (type == AttributeType::kDictionary && IsText(parameter.kind)) {
    const auto& dictionary = *static_cast<const Attributes*>(attributes_.values[index]);
    fits = true;
    for (int64_t i = 0; fits && !rc && i < dictionary.size; ++i) {
      fits = dictionary.types[i] == AttributeType::kString;
      KpAny item = kp_none();
      if (fits) rc = LoadText(parameter.kind, *static_cast<const Span*>(dictionary.values[i]), &item);
      if (fits && !rc) items.push_back(item);
    }
  }
  if (!fits) {
    rc = Wrong(parameter.name, (std::string("a list of ") + Expected(parameter.kind)).c_str(), type);
  } else if (!rc) {
    rc = kp_array_new(items.data(), items.size(), out);
  }
  for (KpAny& item : items) kp_any_release(&item);
  return rc;
}

int AttributeReader::ListSize(const KpSigParam& parameter, int64_t* out) {
  const int64_t i = FindParameter(parameter.name);
  if (i < 0) return Missing(parameter.name);
  if (attributes_.types[i] == AttributeType::kScalar) {
    const auto& scalar = *static_cast<const Scalar*>(attributes_.values[i]);
    if (LoadInt(scalar.dtype, scalar.value, 0, out) && *out >= 0 && *out <= std::numeric_limits<int32_t>::max())
      return 0;
  }
  return Wrong(parameter.name, "the number of tensors", attributes_.types[i]);
}

int AttributeReader::RefuseUnread() {
  for (int64_t i = 0; i < attributes_.size; ++i) {
    if (read_[static_cast<size_t>(i)]) continue;
    const std::string_view name = View(*attributes_.names[i]);
    return kp_raise("TypeError", "%s: the XLA call has an attribute '%.*s' that isn't one of its static parameters",
                    function_, Length(name), name.data());
  }
  return 0;
}

}  // namespace kernpack::xla
