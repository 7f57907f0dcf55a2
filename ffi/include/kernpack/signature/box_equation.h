// Finds out whether steps from a place can lead to another one: the arithmetic behind the question whether strided tensors overlap.
#ifndef KERNPACK_SIGNATURE_BOX_EQUATION_H_
#define KERNPACK_SIGNATURE_BOX_EQUATION_H_

#include <kernpack/config.h>
#include <kernpack/host/signature.h>

KP_NAMESPACE_BEGIN
namespace signature {

// An answer of a search that may be given up.
enum class Sharing { kNone, kSome, kUnknown };

// step[0] * x[0] + step[1] * x[1] + ... = target, where each x is an integer from 0 to last. In general this takes exponential time
// (it contains the subset sum problem), so a search has a number of tries. Tensors that frameworks make take a few.
class BoxEquation {
 public:
  static constexpr int kMaxTerms = 2 * KP_MAX_NDIM + 1;

  // Needs step > 0. At most kMaxTerms times.
  void Add(uint64_t step, uint64_t last) {
    if (last == 0) return;
    int at = count_;
    while (at > 0 && terms_[at - 1].step < step) --at;
    if (at > 0 && terms_[at - 1].step == step) {
      terms_[at - 1].last += last;
      return;
    }
    for (int i = count_++; i > at; --i) terms_[i] = terms_[i - 1];
    terms_[at].step = step;
    terms_[at].last = last;
  }

  // Tells if there is a solution; kUnknown when *tries, of which it uses some, are used up. No sum may exceed 62 bits.
  Sharing Solve(uint64_t target, int* tries) {
    if (count_ == 0) return target == 0 ? Sharing::kSome : Sharing::kNone;
    Prepare();
    tries_ = tries;
    return Search(0, target);
  }

  static uint64_t Divisor(uint64_t a, uint64_t b) {
    while (b) {
      const uint64_t rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }

 private:
  // Sorted by step, the largest first. `divisor`, `reach` and `dense` are of this term and those after it.
  struct Term {
    uint64_t step;
    uint64_t last;
    uint64_t divisor;  // the greatest common one: sums are multiples of it
    uint64_t reach;  // the largest sum
    uint64_t period;  // x and x + period leave the same for the terms after it, up to a multiple of their divisor
    uint64_t inverse;  // of step / divisor, modulo period
    bool dense;  // every multiple of the divisor up to `reach` is a sum
  };

  static uint64_t Multiply(uint64_t a, uint64_t b, uint64_t modulus) {  // a, b < modulus < 2^62
    uint64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return product % modulus;
    product = 0;
    for (; b; b >>= 1, a = 2 * a % modulus) {
      if (b & 1) product = (product + a) % modulus;
    }
    return product;
  }

  static uint64_t Inverse(uint64_t a, uint64_t modulus) {  // of numbers without a common divisor
    int64_t x = 0;
    int64_t next = 1;
    uint64_t r = modulus;
    uint64_t rest = a % modulus;
    while (rest) {
      const uint64_t times = r / rest;
      const uint64_t left = r % rest;
      const int64_t before = x - static_cast<int64_t>(times) * next;
      r = rest;
      rest = left;
      x = next;
      next = before;
    }
    return x < 0 ? static_cast<uint64_t>(x + static_cast<int64_t>(modulus)) : static_cast<uint64_t>(x) % modulus;
  }

  void Prepare() {
    Term& least = terms_[count_ - 1];
    least.divisor = least.step;
    least.reach = least.step * least.last;
    least.dense = true;
    for (int k = count_ - 1; k-- > 0;) {
      Term& t = terms_[k];
      const Term& after = terms_[k + 1];
      t.divisor = Divisor(t.step, after.divisor);
      t.reach = after.reach + t.step * t.last;
      t.dense = after.dense && t.divisor == after.divisor && t.step <= after.reach + after.divisor;
      t.period = after.divisor / t.divisor;
      t.inverse = Inverse(t.step / t.divisor, t.period);
    }
  }

  Sharing Search(int k, uint64_t target) {
    const Term& t = terms_[k];
    if (--*tries_ < 0) return Sharing::kUnknown;
    if (target > t.reach || target % t.divisor) return Sharing::kNone;
    if (t.dense) return Sharing::kSome;
    const uint64_t rest = terms_[k + 1].reach;
    const uint64_t high = target / t.step < t.last ? target / t.step : t.last;
    uint64_t x = target > rest ? (target - rest + t.step - 1) / t.step : 0;
    const uint64_t wanted = Multiply(target / t.divisor % t.period, t.inverse, t.period);
    x += (wanted + t.period - x % t.period) % t.period;
    for (; x <= high; x += t.period) {
      const Sharing found = Search(k + 1, target - x * t.step);
      if (found != Sharing::kNone) return found;
    }
    return Sharing::kNone;
  }

  Term terms_[kMaxTerms];
  int count_ = 0;
  int* tries_ = nullptr;
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_BOX_EQUATION_H_
