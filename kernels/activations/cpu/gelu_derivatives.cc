#include "gelu_derivatives.h"

#include <algorithm>
#include <cmath>

#include "common/cpu/constants.h"
#include "common/cpu/values.h"

namespace kk {
namespace {

struct Slopes {
  double first, second;
};

// With the normal density phi: f' = Phi + x phi, f'' = (2 - x^2) phi. The bound keeps x finite where phi has become 0.
Slopes ErfSlopes(double x) {
  const double bounded = std::min(std::max(x, -40.0), 40.0);
  const double phi = std::exp(bounded * bounded * -0.5) * 0.39894228040143267794;
  return {0.5 * std::erfc(-bounded * kSqrtHalf) + bounded * phi, (2 - bounded * bounded) * phi};
}

// With v = a x + b x^3, s = 1 / (1 + exp(-v)) and q = s' / v' = s (1 - s): f' = s + x q v',
// f'' = 2 q v' + x q ((1 - 2 s) v'^2 + v''). exp(-|v|) is at most 1: nothing overflows.
Slopes TanhSlopes(double x) {
  constexpr double a = 1.5957691216057307118, b = 0.071354816272600241;
  const double bounded = std::min(std::max(x, -64.0), 64.0), square = bounded * bounded;
  const double e = std::exp(-std::fabs(bounded * (a + b * square))), r = 1 / (1 + e), q = e * r * r;
  const double dv = a + 3 * b * square, ddv = 6 * b * bounded;
  const double s = bounded > 0 ? r : e * r, one_minus_2s = (bounded > 0 ? -1 : 1) * (1 - e) * r;
  return {s + bounded * q * dv, q * (2 * dv + bounded * (one_minus_2s * dv * dv + ddv))};
}

}  // namespace

template <class T>
void GeluTangents(const GeluTangentArgs<T>& args) {
  for (int64_t i = 0; i < args.count; ++i) {
    const double x = Load(args.x[i]);
    const auto [first, second] = std::isnan(x)                 ? Slopes{x, x}
                                 : args.kind == GeluKind::kErf ? ErfSlopes(x)
                                                               : TanhSlopes(x);
    if (args.t_out) Store(first * Load(args.t_x[i]), args.t_out + i);
    if (!args.t_d_x) continue;
    double sum = args.t_d_out ? first * Load(args.t_d_out[i]) : 0;
    if (args.t_x) sum += second * Load(args.d_out[i]) * Load(args.t_x[i]);
    Store(sum, args.t_d_x + i);
  }
}

#define KK_INSTANTIATE(T) template void GeluTangents<T>(const GeluTangentArgs<T>&);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
