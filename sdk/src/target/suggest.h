// What an error adds when a name is not known.
#ifndef KERNPACK_SDK_SRC_TARGET_SUGGEST_H_
#define KERNPACK_SDK_SRC_TARGET_SUGGEST_H_

#include <string>
#include <string_view>
#include <vector>

namespace kernpack::sdk {

// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
size_t EditDistance(std::string_view a, std::string_view b);

// "; did you mean 'arch'?", or "" when nothing known is near.
std::string Suggest(std::string_view name, const std::vector<std::string>& known);

// "a, b, c".
std::string List(const std::vector<std::string>& names);

// Text of any length and content, for a message: quoted, cut after 120 bytes.
std::string Quoted(std::string_view text);

// `text` as a Python literal, whole.
std::string Literal(std::string_view text);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_TARGET_SUGGEST_H_
