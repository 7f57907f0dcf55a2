// A module compiled by a generator and loaded into this process.
#pragma once

#include <kernpack/host/host.h>
#include <kernpack/sdk/codegen/generator.h>

#include <cstdlib>
#include <optional>

#include "ir/support.h"

namespace ir_test {

// Takes the text of this thread's error, which isn't raised any longer.
inline std::string TakeError() {
  KpAny error;
  kp_error_take(nullptr, -1, &error);
  const auto* e = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  const std::string text = std::string(e->kind.data, e->kind.size) + ": " + e->message.data;
  kp_any_release(&error);
  return text;
}

// Sets an environment variable for as long as it lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Environment() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class Compiled {
 public:
  explicit Compiled(const IRModule& module, const char* target = "c", const kernpack::sdk::BuildOptions& options = {})
      : Compiled(kernpack::sdk::Build(module, kernpack::sdk::Target(target), options)) {}
  static Compiled Load(std::string path) { return Compiled(kernpack::sdk::Generated{nullptr, std::move(path)}); }

  // The error of the call, "ValueError: ..."; "" if it succeeds. The results are among the arguments.
  std::string Call(const std::string& function, const std::vector<KpAny>& args) const {
    const KpLoadedFunction* f = kp_module_function(module_, KpBytes{function.data(), function.size()});
    if (!f) return kp_error_pending() ? TakeError() : "no function " + function;
    KpAny result = kp_none();
    const int rc = kp_call(f, args.data(), static_cast<int32_t>(args.size()), &result);
    kp_any_release(&result);
    return rc ? TakeError() : "";
  }
  const KpLoadedModule* module() const { return module_; }

 private:
  const KpLoadedModule* module_ = nullptr;

  explicit Compiled(const kernpack::sdk::Generated& made) {
    const char* path = made.library.c_str();
    const int rc = made.table ? kp_module_adopt(made.table, &module_) : kp_module_load(&path, 1, 0, &module_);
    if (rc) throw std::runtime_error(TakeError());
  }
};

}  // namespace ir_test
