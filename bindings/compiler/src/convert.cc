#include <kernpack/error.h>

#include "bindings.h"
#include "target/host.h"

namespace kernpack::compiler {

using sdk::AttrArray;
using sdk::AttrMap;
using sdk::AttrValue;
using sdk::Target;

int64_t ToInt64(py::handle number) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow) KP_THROW(OverflowError) << py::str(number).cast<std::string>() << " does not fit 64 bits";
  if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
  return value;
}

namespace {

constexpr int kMostNesting = 32;  // more than any target has: lists in themselves end here

AttrValue ToAttrValue(py::handle value, int depth) {
  if (depth > kMostNesting)
    KP_THROW(ValueError) << "target: dicts and lists nested deeper than " << kMostNesting
                         << "; does one contain itself?";
  if (value.is_none()) return {};
  if (py::isinstance<Target>(value)) return value.cast<Target>();
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::int_>(value)) {
    return ToInt64(value);
  }
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    AttrArray items;
    for (py::handle item : value) items.push_back(ToAttrValue(item, depth + 1));
    return items;
  }
  if (py::isinstance<py::dict>(value)) {
    AttrMap items;
    for (auto [key, item] : value.cast<py::dict>()) {
      if (!py::isinstance<py::str>(key)) throw py::type_error("target: expected str as the keys of a dict");
      items.emplace(key.cast<std::string>(), ToAttrValue(item, depth + 1));
    }
    return items;
  }
  throw py::type_error("target: expected None, bool, int, float, str, list, tuple, dict or Target, got " +
                       py::type::of(value).attr("__name__").cast<std::string>());
}

}  // namespace

AttrValue FromPython(py::handle value) { return ToAttrValue(value, 0); }

py::object ToPython(const AttrValue& value) {
  switch (value.kind()) {
    case AttrValue::Kind::kNone:
      break;
    case AttrValue::Kind::kBool:
      return py::bool_(*value.As<bool>());
    case AttrValue::Kind::kInt:
      return py::int_(*value.As<int64_t>());
    case AttrValue::Kind::kFloat:
      return py::float_(*value.As<double>());
    case AttrValue::Kind::kString:
      return py::str(*value.If<std::string>());
    case AttrValue::Kind::kArray: {
      py::list items;
      for (const AttrValue& item : *value.If<AttrArray>()) items.append(ToPython(item));
      return items;
    }
    case AttrValue::Kind::kMap:
      return ToPython(*value.If<AttrMap>());
    case AttrValue::Kind::kTarget:
      return py::cast(*value.As<Target>());
  }
  return py::none();
}

py::dict ToPython(const AttrMap& map) {
  py::dict items;
  for (const auto& [key, item] : map) items[py::str(key)] = ToPython(item);
  return items;
}

Target ToTarget(py::handle value) {
  if (py::isinstance<Target>(value)) return value.cast<Target>();
  if (py::isinstance<py::str>(value)) return Target(value.cast<std::string>());
  if (py::isinstance<py::dict>(value)) return Target(*FromPython(value).If<AttrMap>());
  throw py::type_error("expected a Target, str or dict, got " +
                       py::type::of(value).attr("__name__").cast<std::string>());
}

int32_t ToDeviceType(const std::string& name) { return sdk::DeviceTypeFromName(name); }
std::string DeviceTypeName(int32_t device_type) { return sdk::DeviceTypeName(device_type); }

KpDLDevice ToDevice(py::handle value) {
  const std::string name = py::str(value);
  KpDLDevice device{};
  sdk::Check(sdk::TargetApi().device_from_name(host::Bytes(name), &device));
  return device;
}

}  // namespace kernpack::compiler
