// One spelling for each variable and buffer of a function.
#ifndef KERNPACK_SDK_COMPILER_IR_NAMES_H_
#define KERNPACK_SDK_COMPILER_IR_NAMES_H_

#include <kernpack/sdk/ir/stmt.h>

#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace kernpack::sdk::ir {

inline constexpr size_t kLongestName = 200;
bool IsIdentifier(std::string_view name);
// Words of the text form, names of types and operations: not for variables.
bool IsReservedWord(std::string_view name);
// ValueError when it is none.
void CheckFunctionName(const std::string& name);

class Names {
 public:
  // `reserved` (may be empty) says which spellings the output language cannot have.
  explicit Names(std::function<bool(std::string_view)> reserved) : reserved_(std::move(reserved)) {}

  // The spelling of what is first seen here: `wanted`, or that with a number behind it.
  const std::string& Define(const void* node, std::string_view wanted);
  // The spelling of what was defined, or `otherwise`.
  std::string Get(const void* node, std::string_view otherwise) const;
  std::string Fresh(std::string_view wanted);

 private:
  std::function<bool(std::string_view)> reserved_;
  std::unordered_map<const void*, std::string> spelled_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> next_;
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_NAMES_H_
