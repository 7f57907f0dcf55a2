// Names of dtypes: ours out, every framework's in.
#include <cstdio>
#include <string_view>

#include <kernpack/dtype_table.h>
#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/guard.h"
#include "base/intern.h"

namespace kernpack::host {
namespace {

struct NamedDtype {
  std::string_view name;
  uint8_t code;
  uint8_t bits;
};

// The canonical name of each dtype comes before its other spellings.
#define KP_TWO_NAMES(constant, name, word, code, bits) {name, KP_DTYPE_##code, bits}, {word, KP_DTYPE_##code, bits},
constexpr NamedDtype kNames[] = {
    KP_DTYPES(KP_TWO_NAMES) KP_FOREIGN_DTYPES(KP_TWO_NAMES){"bool_", KP_DTYPE_BOOL, 8},
    {"half", KP_DTYPE_FLOAT, 16},
    {"single", KP_DTYPE_FLOAT, 32},
    {"double", KP_DTYPE_FLOAT, 64},
};
#undef KP_TWO_NAMES

// Names that mean one thing to torch and another elsewhere: known only behind "torch.".
constexpr NamedDtype kTorchNames[] = {
    {"float", KP_DTYPE_FLOAT, 32},   {"int", KP_DTYPE_INT, 32},        {"long", KP_DTYPE_INT, 64},
    {"short", KP_DTYPE_INT, 16},     {"cfloat", KP_DTYPE_COMPLEX, 64}, {"cdouble", KP_DTYPE_COMPLEX, 128},
    {"chalf", KP_DTYPE_COMPLEX, 32},
};

// NumPy's array-protocol strings, "<f4": kind and size in bytes.
constexpr NamedDtype kNumpyNames[] = {
    {"b1", KP_DTYPE_BOOL, 8},     {"i1", KP_DTYPE_INT, 8},        {"i2", KP_DTYPE_INT, 16},
    {"i4", KP_DTYPE_INT, 32},     {"i8", KP_DTYPE_INT, 64},       {"u1", KP_DTYPE_UINT, 8},
    {"u2", KP_DTYPE_UINT, 16},    {"u4", KP_DTYPE_UINT, 32},      {"u8", KP_DTYPE_UINT, 64},
    {"f2", KP_DTYPE_FLOAT, 16},   {"f4", KP_DTYPE_FLOAT, 32},     {"f8", KP_DTYPE_FLOAT, 64},
    {"c8", KP_DTYPE_COMPLEX, 64}, {"c16", KP_DTYPE_COMPLEX, 128},
};

constexpr std::string_view kPrefixes[] = {"torch.", "numpy.", "np.", "jax.numpy.", "jnp.", "ml_dtypes.", "cupy."};

template <size_t N>
const NamedDtype* Find(const NamedDtype (&table)[N], std::string_view name) {
  for (const NamedDtype& entry : table) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

// Splits "f32x4" into "f32" and 4; a name without lanes has 1. 0 when the count is out of range.
std::string_view SplitLanes(std::string_view name, uint32_t* lanes) {
  *lanes = 1;
  const size_t at = name.rfind('x');
  if (at == std::string_view::npos || at == 0 || at + 1 == name.size()) return name;
  uint32_t count = 0;
  for (char c : name.substr(at + 1)) {
    if (c < '0' || c > '9') return name;
    count = count * 10 + static_cast<uint32_t>(c - '0');
    if (count > UINT16_MAX) count = UINT16_MAX + 1;
  }
  *lanes = count > UINT16_MAX ? 0 : count;
  const std::string_view element = name.substr(0, at);
  return element.ends_with('_') ? element.substr(0, element.size() - 1) : element;  // torch.float4_e2m1fn_x2
}

const NamedDtype* FindElement(std::string_view name, bool torch) {
  const NamedDtype* found = Find(kNames, name);
  return found == nullptr && torch ? Find(kTorchNames, name) : found;
}

int Unknown(std::string_view name) {
  return kp_raise(
      "ValueError",
      "unknown dtype '%.*s'; expected a name such as f32, bf16, i64, u8, bool, c64, f8_e4m3fn, or a framework's: "
      "float32, torch.float32, <f4",
      PrintLength(name), name.data());
}

int Parse(std::string_view name, KpDLDataType* out) {
  std::string_view rest = name;
  bool torch = false;
  for (std::string_view prefix : kPrefixes) {
    if (rest.starts_with(prefix)) {
      torch = prefix == "torch.";
      rest.remove_prefix(prefix.size());
      break;
    }
  }
  uint32_t lanes = 1;
  const NamedDtype* found = nullptr;
  if (!rest.empty() && (rest[0] == '<' || rest[0] == '|' || rest[0] == '=')) {
    found = Find(kNumpyNames, rest.substr(1));
  } else if (!rest.empty() && rest[0] == '>' && Find(kNumpyNames, rest.substr(1)) != nullptr) {
    return kp_raise("ValueError",
                    "dtype '%.*s' is big-endian; expected native byte order. Convert with "
                    "x.astype(x.dtype.newbyteorder('='))",
                    PrintLength(name), name.data());
  } else {
    found = FindElement(rest, torch);  // first as a whole: the x of "complex64" stands before no lane count
    if (found == nullptr) found = FindElement(SplitLanes(rest, &lanes), torch);
    if (found != nullptr && lanes == 0) {
      return kp_raise("ValueError", "dtype '%.*s': lanes must be 1 to 65535", PrintLength(name), name.data());
    }
  }
  if (found == nullptr) return Unknown(name);
  *out = KpDLDataType{found->code, found->bits, static_cast<uint16_t>(lanes)};
  return 0;
}

constexpr const char* kCodeLetters[] = {"i", "u", "f", "opaque", "bf", "c", "b"};

const char* MakeName(KpDLDataType dtype) {
  char name[64];
  for (const NamedDtype& entry : kNames) {
    if (entry.code != dtype.code || entry.bits != dtype.bits) continue;
    if (dtype.lanes == 1) return entry.name.data();
    std::snprintf(name, sizeof name, "%sx%u", entry.name.data(), dtype.lanes);
    return Intern(name);
  }
  if (dtype.code <= KP_DTYPE_BOOL && dtype.lanes != 0) {
    std::snprintf(name, sizeof name, dtype.lanes == 1 ? "%s%u" : "%s%ux%u", kCodeLetters[dtype.code], dtype.bits,
                  dtype.lanes);
  } else {
    std::snprintf(name, sizeof name, "dtype(code=%u, bits=%u, lanes=%u)", dtype.code, dtype.bits, dtype.lanes);
  }
  return Intern(name);
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_dtype_from_name(KpBytes name, KpDLDataType* out) { return Parse(View(name), out); }

const char* kp_dtype_name(KpDLDataType dtype) {
  const char* name = "dtype";  // when there is no memory for the text of an unusual one
  Guard("kp_dtype_name", [&] {
    name = MakeName(dtype);
    return 0;
  });
  return name;
}
