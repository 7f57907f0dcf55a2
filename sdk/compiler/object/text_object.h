// Objects whose body is that of a KpStrObject, of a type of their own.
#ifndef KERNPACK_SDK_COMPILER_OBJECT_TEXT_OBJECT_H_
#define KERNPACK_SDK_COMPILER_OBJECT_TEXT_OBJECT_H_

#include <kernpack/any.h>

#include <string_view>

namespace kernpack::sdk {

Any NewTextObject(const char* type_key, std::string_view text);
// The text of an object of that type, or of a str; borrowed from `value`, which holds short text itself. TypeError that
// names `what` otherwise.
std::string_view GetText(const AnyView& value, const char* type_key, const char* what);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_OBJECT_TEXT_OBJECT_H_
