#include "codegen/languages.h"

#include <kernpack/error.h>
#include "shared/target_kinds.h"

#include "codegen/c_family/spelling.h"

namespace kernpack::sdk::ir {
namespace {

class C99Dialect : public Dialect {
 public:
  const char* Kind() const override { return host::kCKind; }
  bool HasGnuVectors() const override { return true; }
  std::string Inline() const override { return "KP_INLINE "; }
  std::string Restrict() const override { return "restrict "; }
  std::string Space(Scope) const override { return ""; }
  std::string Function(Op op, Type type) const override {
    const std::string name = op == Op::kAbs ? "fabs" : op == Op::kRound ? "rint" : std::string(OpName(op));
    return type.bits == 32 ? name + "f" : name;
  }
  std::string ThreadIndex(int) const override { RefuseLaunch(); }
  std::string BlockIndex(int) const override { RefuseLaunch(); }
  std::string Barrier() const override { RefuseLaunch(); }
  bool IsReserved(std::string_view name) const override { return IsCWord(name); }

 private:
  [[noreturn]] static void RefuseLaunch() {
    KP_THROW(NotImplementedError) << "the kind c has no device to launch on; build for opencl or cuda";
  }
};

class DeviceHostDialect final : public C99Dialect {
 public:
  const char* Kind() const override { return "host of a device"; }
  std::string Barrier() const override { return ";"; }  // the host is one thread
};

}  // namespace

const Dialect& C99OfDeviceHost() {
  static const DeviceHostDialect dialect;
  return dialect;
}

const Dialect& C99() {
  static const C99Dialect dialect;
  return dialect;
}

}  // namespace kernpack::sdk::ir
