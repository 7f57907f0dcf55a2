// The global function that `kernpack warm` calls: it compiles a module's source into the cache, for any architecture.
#include <cstdlib>
#include <exception>

#include "backends/cuda/error.h"
#include "backends/cuda/jit.h"
#include "backends/cuda/text.h"
#include "shared/bytes.h"
#include "shared/cuda_arch.h"

namespace kernpack::cuda {
namespace {

constexpr const char* kCompile = "kernpack.cuda.compile";

// An object of the ABI that is never freed.
struct CompileFunction {
  KpFunctionObject object;
  const KpHost* host;
};

int Compile(const KpHost* host, const KpAny* args, int32_t count, KpAny* out) {
  KpBytes image{}, unit{}, arch{};
  if (count != 3 || !kp_any_str(&args[0], &image) || !kp_any_str(&args[1], &unit) || !kp_any_str(&args[2], &arch)) {
    return Raise(
        host, "TypeError",
        Format("%s: expected three texts: a source, an instance of a kernel or '', an architecture", kCompile));
  }
  const auto read = host::ReadCudaArch(host::View(arch));
  if (!read || read->suffix != 0) {
    return Raise(host, "ValueError",
                 Format("%s: expected an architecture such as sm_90, got '%.*s'", kCompile,
                        host::PrintLength(host::View(arch)), arch.data));
  }
  JitSource source;
  std::string why;
  if (!ReadJitSource(host::View(image), "", &source, &why))
    return Raise(host, "ValueError", Format("%s: %s", kCompile, why.c_str()));
  JitTarget target;
  target.who = "kernpack warm";
  target.arch = read->number;
  target.ptx = read->ptx;
  JitCode code;
  bool compiled = false;
  if (BuildJit(host, source, host::View(unit), target, &code, &compiled) != 0) return -1;
  *out = kp_none();
  out->type_index = KP_TYPE_BOOL;
  out->v.v_int = compiled ? 1 : 0;
  return 0;
}

int CallCompile(void* self, const KpAny* args, int32_t count, KpAny* out) noexcept {
  const KpHost* host = static_cast<const CompileFunction*>(self)->host;
  try {
    return Compile(host, args, count, out);
  } catch (const std::exception& error) {
    return Raise(host, "RuntimeError", std::string(kCompile) + ": " + error.what());
  }
}

void KeepForever(void* /*object*/, int /*flags*/) {}

}  // namespace

int RegisterJit(const KpHost* host) {
  static auto* const function =
      new CompileFunction{{{1 | uint64_t{1} << 32, KP_TYPE_FUNCTION, 0, &KeepForever}, &CallCompile, nullptr}, nullptr};
  function->host = host;
  return host->global_set(host, kp_bytes(kCompile), &function->object.header, 1);
}

}  // namespace kernpack::cuda
