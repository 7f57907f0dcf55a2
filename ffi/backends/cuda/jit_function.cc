// Global functions for the command: `kernpack warm` compiles a module's source into the cache, for any architecture; `kernpack doctor` asks
// which NVRTC would.
#include <atomic>
#include <exception>

#include "backends/cuda/error.h"
#include "backends/cuda/jit.h"
#include "backends/cuda/jit_tools.h"
#include "backends/cuda/text.h"
#include "shared/bytes.h"
#include "shared/cuda_arch.h"

namespace kernpack::cuda {
namespace {

constexpr const char* kCompile = "kernpack.cuda.compile";
constexpr const char* kCompiler = "kernpack.cuda.compiler";

using GlobalBody = int (*)(const KpHost* host, const KpAny* args, int32_t count, KpAny* out);

// An object of the ABI that is never freed.
struct GlobalFunction {
  KpFunctionObject object;
  const KpHost* host;
  const char* name;
  GlobalBody body;
};

// A text as the result of a function.
struct OwnedText {
  KpStrObject object;
  std::string text;

  static void Delete(void* object, int flags) {
    if ((flags & KP_DELETE_WEAK) != 0) delete static_cast<OwnedText*>(object);
  }
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
  target.must_keep = true;
  JitCode code;
  bool compiled = false;
  JitError error;
  const JitTools tools = FindTools(host, source, target);
  if (!BuildJit(host, source, host::View(unit), target, tools, &code, &error, &compiled)) return RaiseJit(host, error);
  host->log(host, KP_LOG_INFO, host::Bytes(code.said));
  *out = kp_none();
  out->type_index = KP_TYPE_BOOL;
  out->v.v_int = compiled ? 1 : 0;
  return 0;
}

// "13.5 at /.../libnvrtc.so.13"
int DescribeCompiler(const KpHost* host, const KpAny* /*args*/, int32_t /*count*/, KpAny* out) {
  JitCompiler compiler;
  std::string why;
  if (!FindCompiler(host, 0, &compiler, &why)) return Raise(host, "RuntimeError", why);
  auto* const made = new OwnedText{{}, compiler.version + " at " + compiler.file};
  made->object.header = {1 | uint64_t{1} << 32, KP_TYPE_STR, 0, &OwnedText::Delete};
  made->object.bytes = host::Bytes(made->text);
  *out = kp_none();
  out->type_index = KP_TYPE_STR;
  out->v.v_obj = &made->object.header;
  return 0;
}

int CallGlobal(void* self, const KpAny* args, int32_t count, KpAny* out) noexcept {
  const auto* function = static_cast<const GlobalFunction*>(self);
  try {
    return function->body(function->host, args, count, out);
  } catch (const std::exception& error) {
    return Raise(function->host, "RuntimeError", std::string(function->name) + ": " + error.what());
  }
}

void KeepForever(void* /*object*/, int /*flags*/) {}

int RegisterGlobal(const KpHost* host, const char* name, GlobalBody body) {
  auto* const function = new GlobalFunction{
      {{1 | uint64_t{1} << 32, KP_TYPE_FUNCTION, 0, &KeepForever}, &CallGlobal, nullptr}, host, name, body};
  return host->global_set(host, kp_bytes(name), &function->object.header, 1);
}

}  // namespace

int RegisterJit(const KpHost* host) {
  static std::atomic<bool> done{false};
  if (done.exchange(true)) return 0;
  return RegisterGlobal(host, kCompile, Compile) != 0 ? -1 : RegisterGlobal(host, kCompiler, DescribeCompiler);
}

}  // namespace kernpack::cuda
