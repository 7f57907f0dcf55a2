#include <kernpack/sdk/ir/op.h>
#include <kernpack/sdk/ir/type.h>

#include <charconv>

namespace kernpack::sdk::ir {

bool IsSupported(Type t) {
  if (t.lanes < 1 || t.lanes > kMaxLanes || (t.lanes & (t.lanes - 1))) return false;
  if (IsInteger(t)) return t.bits >= 8;
  const Type e = ElementOf(t);
  return IsBool(e) || e == f16 || e == bf16 || e == f32 || e == f64 || e == f8_e4m3fn || e == f8_e5m2;
}

std::string TypeName(Type t) {
  std::string name = "?";
  for (const DTypeName& row : kDTypeNames) {
    if (row.dtype == ElementOf(t)) name = row.name;
  }
  return t.lanes == 1 ? name : name + "x" + std::to_string(t.lanes);
}

bool TypeFromName(std::string_view name, Type* out) {
  for (const DTypeName& row : kDTypeNames) {
    const std::string_view element = row.name;
    if (name.substr(0, element.size()) != element) continue;
    std::string_view rest = name.substr(element.size());
    int lanes = 1;
    if (!rest.empty()) {
      if (rest[0] != 'x') continue;
      const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), lanes);
      if (error != std::errc() || end != rest.data() + rest.size() || lanes < 2 || lanes > kMaxLanes) continue;
    }
    *out = WithLanes(row.dtype, lanes);
    if (TypeName(*out) == name && IsSupported(*out)) return true;
  }
  return false;
}

namespace {
struct OpRow {
  std::string_view name;
  OpClass cls;
};
#define KP_IR_ROW_(op, name, cls) {name, OpClass::cls},
constexpr OpRow kRows[] = {KP_IR_OPS(KP_IR_ROW_)};
#undef KP_IR_ROW_
}  // namespace

std::string_view OpName(Op op) { return kRows[static_cast<int>(op)].name; }
OpClass ClassOf(Op op) { return kRows[static_cast<int>(op)].cls; }

bool OpFromName(std::string_view name, Op* out) {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].name != name || kRows[i].cls == OpClass::Leaf || kRows[i].cls == OpClass::Form) continue;
    *out = static_cast<Op>(i);
    return true;
  }
  return false;
}

}  // namespace kernpack::sdk::ir
