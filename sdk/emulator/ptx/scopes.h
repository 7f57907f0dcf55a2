// The names of a function's registers: blocks in braces, as inline assembly makes them, may declare them again.
#ifndef KERNPACK_SDK_EMULATOR_PTX_SCOPES_H_
#define KERNPACK_SDK_EMULATOR_PTX_SCOPES_H_

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/syntax.h"

namespace kernpack::emulator {

class Scopes {
 public:
  explicit Scopes(Function* function) : function_(*function) {
    function_.scope_parents.assign(1, 0);
    open_.push_back({0, {}});
  }

  uint32_t current() const { return open_.back().id; }
  void Open() {
    const auto id = static_cast<uint32_t>(function_.scope_parents.size());
    function_.scope_parents.push_back(current());
    open_.push_back({id, {}});
  }
  // False for the function's own.
  bool Close() {
    if (open_.size() == 1) return false;
    open_.pop_back();
    return true;
  }
  void Declare(const std::string& name, std::string_view type) {
    open_.back().registers[name] = static_cast<uint32_t>(function_.registers.size());
    function_.registers.push_back({name, std::string(type)});
  }
  bool Find(std::string_view name, uint32_t* out) const {
    for (auto scope = open_.rbegin(); scope != open_.rend(); ++scope) {
      const auto found = scope->registers.find(name);
      if (found == scope->registers.end()) continue;
      *out = found->second;
      return true;
    }
    return false;
  }

 private:
  // Looks a std::string_view up without a copy.
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  struct Scope {
    uint32_t id;
    std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> registers;
  };
  Function& function_;
  std::vector<Scope> open_;
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_PTX_SCOPES_H_
