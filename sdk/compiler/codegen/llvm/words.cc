// Products of the parts of words, which x86 multiplies and adds in one instruction: of pairs of 16-bit integers (PMADDWD), of fours of
// unsigned and signed bytes (VPDPBUSD). LLVM doesn't find them in what schedules write.
#include <kernpack/sdk/ir/equal.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <optional>

#include "codegen/llvm/function.h"

namespace kernpack::sdk::ir {
namespace {

bool IsWith(const Expr& e, Op op, int64_t number) {
  int64_t value = 0;
  return e->op == op && IsConstInt(e->args[1], &value) && value == number;
}

// The word of which `e` is that part of so many bits; empty if it isn't.
Expr WordOf(const Expr& e, int part, int bits, bool is_unsigned) {
  if (e->op == Op::kBroadcast) {
    const Expr word = WordOf(e->args[0], part, bits, is_unsigned);
    return word ? Broadcast(word, e->type.lanes) : Expr();
  }
  if (is_unsigned) {
    if (!IsWith(e, Op::kAnd, (1 << bits) - 1)) return Expr();
    const Expr& shifted = e->args[0];
    if (part == 0) return shifted;
    return IsWith(shifted, Op::kShr, part * bits) ? shifted->args[0] : Expr();
  }
  if (!IsWith(e, Op::kShr, 32 - bits)) return Expr();
  const int above = 32 - bits * (part + 1);
  if (above == 0) return e->args[0];
  return IsWith(e->args[0], Op::kShl, above) ? e->args[0]->args[0] : Expr();
}

struct Words {
  Expr left, right;
};

// Of a sum of as many products as there are parts: the words, if each product is of one part of both.
std::optional<Words> FindWords(const Expr& e, int parts, bool unsigned_left) {
  Words words;
  const Expr* rest = &e;
  for (int part = parts - 1; part >= 0; --part) {
    if ((*rest)->op != (part ? Op::kAdd : Op::kMul)) return std::nullopt;
    const Expr& product = part ? (*rest)->args[1] : *rest;
    if (product->op != Op::kMul) return std::nullopt;
    const Expr left = WordOf(product->args[0], part, 32 / parts, unsigned_left),
               right = WordOf(product->args[1], part, 32 / parts, false);
    if (!left || !right) return std::nullopt;
    if (words.left && (!Equal(left, words.left) || !Equal(right, words.right))) return std::nullopt;
    words = {left, right};
    if (part) rest = &(*rest)->args[0];
  }
  return words;
}

// The same with factors that changed places.
std::optional<Words> FindBytes(const Expr& e) {
  if (const std::optional<Words> words = FindWords(e, 4, true)) return words;
  class Swapped {
   public:
    static Expr Of(const Expr& sum) {
      if (sum->op == Op::kMul) return WithArgs(sum, {sum->args[1], sum->args[0]});
      if (sum->op != Op::kAdd || sum->args[1]->op != Op::kMul) return sum;
      return WithArgs(sum, {Of(sum->args[0]), Of(sum->args[1])});
    }
  };
  return e->op == Op::kAdd ? FindWords(Swapped::Of(e), 4, true) : std::nullopt;
}

}  // namespace

llvm::Value* FunctionGenerator::WordProducts(const ExprNode& e) {
  const int bits = e.type.bits * e.type.lanes;
  if (e.op != Op::kAdd || ElementOf(e.type) != kI32 || bits < 128) return nullptr;
  const auto in_parts = [&](const Expr& word, unsigned part_bits) {
    auto* type = llvm::FixedVectorType::get(b_.getIntNTy(part_bits), static_cast<unsigned>(bits) / part_bits);
    return b_.CreateBitCast(E(word), type);
  };
  if (bits <= level_.byte_bits) {
    if (const std::optional<Words> words = FindBytes(e.args[1])) {
      const auto id = bits == 512   ? llvm::Intrinsic::x86_avx512_vpdpbusd_512
                      : bits == 256 ? llvm::Intrinsic::x86_avx512_vpdpbusd_256
                                    : llvm::Intrinsic::x86_avx512_vpdpbusd_128;
      llvm::Value *so_far = E(e.args[0]), *left = in_parts(words->left, 8);
      return b_.CreateIntrinsic(id, {}, {so_far, left, in_parts(words->right, 8)});
    }
  }
  if (bits > level_.pair_bits || e.args[1]->op != Op::kMul) return nullptr;
  const std::optional<Words> words = FindWords(Expr(std::make_shared<const ExprNode>(e)), 2, false);
  if (!words) return nullptr;
  const auto id = bits == 512   ? llvm::Intrinsic::x86_avx512_pmaddw_d_512
                  : bits == 256 ? llvm::Intrinsic::x86_avx2_pmadd_wd
                                : llvm::Intrinsic::x86_sse2_pmadd_wd;
  llvm::Value* left = in_parts(words->left, 16);
  return b_.CreateIntrinsic(id, {}, {left, in_parts(words->right, 16)});
}

}  // namespace kernpack::sdk::ir
