// Reading the static arguments of a call site from XLA's attributes.
//
//   parameter                attribute of the parameter's name
//   int                      integer scalar
//   float                    f32 or f64 scalar; or, under the name with ".bits" behind it, an s64 scalar of the double's
//                            bits, which keeps -0.0 and NaN apart from other values in every cache on the way
//   bool                     PRED scalar
//   str, dtype, device       string ("f32", "cuda:0")
//   list[int|float|bool]     array of such scalars, under the same names
//   list[str|dtype|device]   dictionary whose sorted keys give the order
//   list of tensors          integer scalar: how many buffers it takes
//   tensor                   none: the next buffer
//   any optional one, None   none; the name is listed in "kp.none", separated by commas
//
// "kp.arg." may stand before a parameter's name: JAX can't pass attributes on that are named as parameters of functions of its own.
#ifndef KERNPACK_SRC_GUESTS_XLA_ATTRIBUTES_H_
#define KERNPACK_SRC_GUESTS_XLA_ATTRIBUTES_H_

#include <kernpack/host/signature.h>

#include <string>
#include <string_view>
#include <vector>

#include "guests/xla/xla_ffi_abi.h"

namespace kernpack::xla {

inline constexpr std::string_view kFunctionAttribute = "kp.fn";
inline constexpr std::string_view kNoneAttribute = "kp.none";

// Functions returning int return 0, or -1 with a TypeError or ValueError raised that names function and attribute.
class AttributeReader {
 public:
  // `attributes` must outlive the reader.
  explicit AttributeReader(const Attributes& attributes);
  // Put before every message from here on; borrowed.
  void SetFunction(const char* name) { function_ = name; }

  // A string; when absent, "" if `required` is false.
  int String(std::string_view name, bool required, std::string_view* out);
  // A static parameter as an owned value.
  int Value(const KpSigParam& parameter, KpAny* out);
  // How many buffers a list of tensors takes.
  int ListSize(const KpSigParam& parameter, int64_t* out);
  // Refuses an attribute that nothing asked for.
  int RefuseUnread();

 private:
  // -1: absent. Marks the attribute as read.
  int64_t Find(std::string_view name);
  int64_t FindParameter(const std::string& name);
  int Missing(std::string_view name);
  int Wrong(std::string_view name, const char* expected, AttributeType got);
  int ListValue(const KpSigParam& parameter, int64_t index, bool bits, KpAny* out);

  const Attributes& attributes_;
  std::vector<bool> read_;
  const char* function_ = "kernpack";
};

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_GUESTS_XLA_ATTRIBUTES_H_
