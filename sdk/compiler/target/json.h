// Attribute values as JSON, both ways.
#ifndef KERNPACK_SDK_COMPILER_TARGET_JSON_H_
#define KERNPACK_SDK_COMPILER_TARGET_JSON_H_

#include <kernpack/sdk/target_value.h>

namespace kernpack::sdk {

// An object. ValueError with what is wrong: syntax, another kind of value, a key given twice, an integer that does not fit,
// nesting deeper than 16. `what` starts the message.
AttrMap MapFromJson(std::string_view text, const std::string& what);
// One line, keys sorted. Targets become their config; text that isn't UTF-8 is a ValueError.
std::string MapToJson(const AttrMap& map);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_TARGET_JSON_H_
