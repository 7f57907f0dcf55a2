// The current target of a thread.
#include <kernpack/error.h>
#include <kernpack/sdk/target.h>

namespace kernpack::sdk {
namespace {

std::vector<Target>& Scopes() {
  static thread_local std::vector<Target> scopes;
  return scopes;
}

}  // namespace

TargetScope::TargetScope(Target target) { Scopes().push_back(std::move(target)); }
TargetScope::~TargetScope() { Scopes().pop_back(); }

std::optional<Target> Target::CurrentOrNone() {
  if (Scopes().empty()) return std::nullopt;
  return Scopes().back();
}

Target Target::Current() {
  if (Scopes().empty()) {
    KP_THROW(RuntimeError)
        << "no target is current in this thread; make one so: TargetScope scope(Target(\"llvm\")) in "
           "C++, `with Target(\"llvm\"):` in Python";
  }
  return Scopes().back();
}

}  // namespace kernpack::sdk
