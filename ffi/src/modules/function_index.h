// All functions of a module: its tables taken together, checked, and found by name.
#ifndef KERNPACK_SRC_MODULES_FUNCTION_INDEX_H_
#define KERNPACK_SRC_MODULES_FUNCTION_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "modules/loaded_module.h"
#include "modules/name_index.h"

namespace kernpack::host {

// Immutable, but for the order of the names.
class FunctionIndex {
 public:
  using Link = std::pair<const char*, const char*>;

  // NULL with an error raised when something is wrong with the tables: with an entry, with the variants of a function, with a
  // gradient or tangent function. `parts` stays where it is.
  static std::unique_ptr<const FunctionIndex> Make(const std::vector<Part>& parts);

  // The implementations of the function of that name; none where there is no such function.
  std::vector<Entry> Find(std::string_view name) const;

  size_t count() const { return first_.size(); }
  const char* NameInOrder(size_t index) const;
  size_t CountSignatures() const;
  // The functions with a signature, for the suggestion in an error. The names live as long as the module.
  std::vector<std::string_view> GetSignedNames() const;

  std::vector<Link> gradients;  // forward, backward
  std::vector<Link> jvps;  // forward, the op that computes its tangents

 private:
  explicit FunctionIndex(const std::vector<Part>& parts) : parts_(parts) {}

  int Fill();
  int ReadUnrelocated();
  int Add(const Entry& entry, uint32_t number);
  int CheckFunctions() const;
  Entry At(uint32_t number) const;
  std::vector<Entry> ChainFrom(uint32_t number) const;

  const std::vector<Part>& parts_;
  std::vector<std::vector<RelocatedLine>> relocated_;  // of each part; empty where its table has pointers
  NameIndex names_;
  std::vector<uint32_t> first_;  // of each function, the number of its first entry, counted through all parts
  std::vector<uint32_t> next_;  // of each entry, the next of the same function; empty where each has one
  mutable std::vector<uint32_t>
      by_name_;  // first_ in the order of the names; empty until asked for; guarded by ModulesMutex()
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULES_FUNCTION_INDEX_H_
