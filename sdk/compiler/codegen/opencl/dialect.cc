#include "codegen/languages.h"

#include <algorithm>

#include "shared/target_kinds.h"

#include "codegen/c_family/spelling.h"

namespace kernpack::sdk::ir {
namespace {

constexpr char kOpenClPrelude[] = R"(#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
#define INT64_C(n) n##l
#define UINT64_C(n) n##ul

// Vectors are GNU C's where the compiler is Clang, else structs.
#ifdef __clang__
#define KP_VECTORS 1
#define LANE(v, i) (v)[i]
#define memcpy __builtin_memcpy
#else
#define KP_VECTORS 0
#define LANE(x, i) (x).v[i]
#endif
#define KP_OPAQUE(lane) (void)0

// PoCL's own functions promise the compiler that there is no NaN: where it knows of one, the result is any bits.
#define KP_ROUNDING(name, type) \
  static inline type kp_##name##_##type(type a) { return a != a ? a : name(a); }
#define KP_ROUNDINGS(type) \
  KP_ROUNDING(floor, type) KP_ROUNDING(ceil, type) KP_ROUNDING(trunc, type) KP_ROUNDING(rint, type)
KP_ROUNDINGS(float)
#ifdef cl_khr_fp64
KP_ROUNDINGS(double)
#endif

static inline int64_t kp_thread(void) {
  const int64_t y = get_global_id(2) * get_global_size(1) + get_global_id(1);
  return y * get_global_size(0) + get_global_id(0);
}

)";

std::string Number(int64_t n) { return std::to_string(n); }

class OpenClDialect final : public KernelDialect {
 public:
  explicit OpenClDialect(bool contracts) : contracts_(contracts) {}

  const char* Kind() const override { return host::kOpenClKind; }
  bool HasGnuVectors() const override { return true; }
  std::string Inline() const override { return "static inline "; }
  std::string Restrict() const override { return "restrict "; }
  std::string Space(Scope scope) const override {
    return scope == Scope::kLocal ? "" : scope == Scope::kShared ? "__local " : "__global ";
  }
  std::string Function(Op op, Type type) const override {
    if (op == Op::kAbs || op == Op::kSqrt) return op == Op::kAbs ? "fabs" : "sqrt";
    return "kp_" + std::string(op == Op::kRound ? "rint" : OpName(op)) + (type.bits == 32 ? "_float" : "_double");
  }
  std::string ThreadIndex(int axis) const override { return "((int32_t)get_local_id(" + Number(axis) + "))"; }
  std::string BlockIndex(int axis) const override { return "((int32_t)get_group_id(" + Number(axis) + "))"; }
  std::string Barrier() const override { return "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"; }
  bool IsReserved(std::string_view name) const override {
    static constexpr std::string_view kWords[] = {
        "kernel",     "global",  "local",   "constant", "private", "generic", "read_only", "write_only",
        "read_write", "pipe",    "half",    "uchar",    "ushort",  "uint",    "ulong",     "clamp",
        "mix",        "step",    "sign",    "dot",      "cross",   "length",  "any",       "all",
        "select",     "barrier", "event_t", "image",    "sampler", "degrees"};
    return IsCWord(name) || std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords);
  }

  std::string Prelude() const override {
    return std::string("#pragma OPENCL FP_CONTRACT ") + (contracts_ ? "ON\n" : "OFF\n") + kOpenClPrelude;
  }
  std::string Head(const std::string& name, const int64_t (&threads)[3]) const override {
    std::string group;
    if (threads[0] > 0 && threads[1] > 0 && threads[2] > 0) {
      group = "__attribute__((reqd_work_group_size(" + Number(threads[0]) + ", " + Number(threads[1]) + ", " +
              Number(threads[2]) + "))) ";
    }
    return "__kernel " + group + "void " + name + "(";
  }
  // The buffer, and the index of the first element.
  std::string MemoryParameter(const std::string& pointer, const std::string& name) const override {
    return pointer + "kp_" + name + "_buffer, const ulong kp_" + name + "_first";
  }
  std::string MemoryBinding(const std::string& pointer, const std::string& name) const override {
    return "  " + pointer + name + " = kp_" + name + "_buffer + kp_" + name + "_first;\n";
  }
  std::string Fail() const override {
    return R"(
static inline void kp_fail(__global int64_t* word, int number, int64_t a, int64_t b, int64_t c, int64_t d) {
  if (atomic_cmpxchg((volatile __global int*)word, 0, number) != 0) return;
  word[1] = a;
  word[2] = b;
  word[3] = c;
  word[4] = d;
}
)";
  }
  std::string Shared() const override { return Space(Scope::kShared); }

 private:
  bool contracts_;
};

}  // namespace

const KernelDialect& OpenClC(bool contracts) {
  static const OpenClDialect exact(false), contracting(true);
  return contracts ? contracting : exact;
}

}  // namespace kernpack::sdk::ir
