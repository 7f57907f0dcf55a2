#include "codegen/languages.h"

#include <algorithm>

#include "shared/target_kinds.h"

#include "codegen/c_family/spelling.h"

namespace kernpack::sdk::ir {
namespace {

constexpr char kCudaPrelude[] = R"(#ifdef __CUDACC_RTC__  // NVRTC, which has no headers
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT64_C(n) n##ll
#define UINT64_C(n) n##ull
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
#else
#include <math.h>
#include <stdint.h>
#endif
#define LANE(x, i) (x).v[i]
#ifdef __CUDA_ARCH__
#define KP_OPAQUE(x) asm("" : "+r"(x))  // of 32 bits: else the compiler would undo what follows
#define KP_OPAQUE64(x) asm("" : "+l"(x))
#else
#define KP_OPAQUE(x)
#define KP_OPAQUE64(x)
#endif

static __device__ __forceinline__ __attribute__((unused)) int64_t kp_thread() {
  const int64_t block = ((int64_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int64_t thread = ((int64_t)threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  return block * ((int64_t)blockDim.x * blockDim.y * blockDim.z) + thread;
}

)";

constexpr char kAxes[] = "xyz";

class CudaDialect final : public KernelDialect {
 public:
  const char* Kind() const override { return host::kCudaKind; }
  bool HasGnuVectors() const override { return false; }
  std::string Inline() const override { return "static __device__ __forceinline__ "; }
  std::string Restrict() const override { return "__restrict__ "; }
  std::string Space(Scope) const override { return ""; }
  std::string Function(Op op, Type type) const override {
    const std::string name = op == Op::kAbs ? "fabs" : op == Op::kRound ? "rint" : std::string(OpName(op));
    return type.bits == 32 ? name + "f" : name;
  }
  // ptxas of CUDA 13.0 to 13.2, and so the drivers of that time, compile min(min(a, -b), -c) for sm_90 and sm_100 to an instruction of
  // three operands that leaves out a negation: on an H200 the smallest of some negated numbers was wrong (13.5 does it right). So
  // integers go through an unsigned comparison, or a signed one of unsigned integers, of numbers moved by half their range: ptxas
  // folds the moves into the minimum, and never a negation.
  std::string IntegerBody(Op op, Type t) const override {
    if (op == Op::kOr || op == Op::kShl) return WithoutByteSwap(op, t);
    if ((op != Op::kMin && op != Op::kMax) || t.bits > 32 || !IsInteger(t)) return "";
    const char* const moved = IsSigned(t) ? "uint32_t" : "int32_t";
    std::string body;
    for (const char* operand : {"a", "b"}) {
      body += std::string("uint32_t ") + operand + "_ = (uint32_t)" + operand + " ^ 0x80000000u; KP_OPAQUE(" + operand +
              "_); ";
    }
    return body + "uint32_t c_ = (" + moved + ")a_ " + (op == Op::kMin ? "<" : ">") + " (" + moved +
           ")b_ ? a_ : b_; KP_OPAQUE(c_); return (" + CElement(t) + ")(c_ ^ 0x80000000u);";
  }
  std::string ThreadIndex(int axis) const override { return std::string("((int32_t)threadIdx.") + kAxes[axis] + ")"; }
  std::string BlockIndex(int axis) const override { return std::string("((int32_t)blockIdx.") + kAxes[axis] + ")"; }
  std::string Barrier() const override { return "__syncthreads();"; }
  bool IsReserved(std::string_view name) const override {
    static constexpr std::string_view kWords[] = {
        "alignas",  "and",      "blockDim", "blockIdx", "catch",     "class",     "constexpr", "delete",   "dim3",
        "explicit", "export",   "friend",   "gridDim",  "mutable",   "namespace", "new",       "noexcept", "not",
        "nullptr",  "operator", "or",       "private",  "protected", "public",    "template",  "this",     "threadIdx",
        "throw",    "try",      "typename", "using",    "virtual",   "warpSize",  "wchar_t",   "xor"};
    return IsCWord(name) || std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords);
  }

  std::string Prelude() const override { return kCudaPrelude; }
  std::string Head(const std::string& name, const int64_t (&threads)[3]) const override {
    const int64_t block = threads[0] * threads[1] * threads[2];
    const std::string bounds = block > 0 ? "__launch_bounds__(" + std::to_string(block) + ") " : "";
    return "extern \"C\" __global__ void " + bounds + name + "(";
  }
  std::string MemoryParameter(const std::string& pointer, const std::string& name) const override {
    return pointer + name;
  }
  std::string MemoryBinding(const std::string&, const std::string&) const override { return ""; }
  std::string Fail() const override {
    return R"(
static __device__ void kp_fail(int64_t* word, int number, int64_t a, int64_t b, int64_t c, int64_t d) {
  if (atomicCAS((int*)word, 0, number) != 0) return;
  word[1] = a;
  word[2] = b;
  word[3] = c;
  word[4] = d;
}
)";
  }
  std::string Shared() const override { return "__shared__ "; }
  int64_t MostInArrays() const override { return 48 << 10; }
  std::string BlockMemory() const override { return "extern __shared__ __align__(16) unsigned char kp_block[];"; }

 private:
  // NVRTC up to 13.5 has LLVM's fault 55484: it takes the low 16 bits of a << 8 | a >> 8 for a swap of two bytes, although a may
  // have bits above them. It doesn't see the form if one operand of `|` is opaque, or the shift by 8 where an addition without
  // carry becomes an `|`. Empty assembly costs no instruction.
  static std::string WithoutByteSwap(Op op, Type t) {
    if (!IsInteger(t)) return "";
    const std::string wide = t.bits == 64 ? "uint64_t" : "uint32_t", hide = t.bits == 64 ? "KP_OPAQUE64" : "KP_OPAQUE";
    const std::string c = CElement(t), count = "((uint32_t)b & " + std::to_string(t.bits - 1) + "u)";
    if (op == Op::kOr) {
      return wide + " a_ = (" + wide + ")a; " + hide + "(a_); return (" + c + ")(a_ | (" + wide + ")b);";
    }
    return wide + " c_ = (" + wide + ")a << " + count + "; if (" + count + " == 8u) " + hide + "(c_); return (" + c +
           ")c_;";
  }
};

}  // namespace

const KernelDialect& CudaCxx() {
  static const CudaDialect dialect;
  return dialect;
}

}  // namespace kernpack::sdk::ir
