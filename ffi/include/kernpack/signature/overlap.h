// Decides whether two tensors share a byte, and whether elements of one tensor do: exactly, also where strided views interleave.
#ifndef KERNPACK_SIGNATURE_OVERLAP_H_
#define KERNPACK_SIGNATURE_OVERLAP_H_

#include <kernpack/signature/box_equation.h>
#include <kernpack/signature/memory.h>

KP_NAMESPACE_BEGIN
namespace signature {

// Tries of a search, a few milliseconds.
inline constexpr int kOverlapTries = 1 << 16;

// A tensor's memory as runs of `width` bits, one wherever steps lead from the lowest. Dims that continue a run are part of it.
struct Runs {
  uint64_t width;
  uint64_t reach = 0;  // from the lowest run to the highest
  bool sound;  // false: a number doesn't fit 60 bits
  int count = 0;
  uint64_t step[KP_MAX_NDIM];
  uint64_t last[KP_MAX_NDIM];

  // Needs elements.
  explicit Runs(const KpDLTensor& t) : width(static_cast<uint64_t>(t.dtype.bits) * t.dtype.lanes), sound(width != 0) {
    const uint64_t bits = width;
    int64_t compact = 1;
    for (int32_t i = t.ndim; i-- > 0; compact *= t.shape[i]) {
      if (t.shape[i] == 1) continue;
      const uint64_t stride = Distance(t.strides ? t.strides[i] : compact);
      last[count] = static_cast<uint64_t>(t.shape[i]) - 1;
      uint64_t span = 0;
      const bool wraps = __builtin_mul_overflow(bits, stride, &step[count]) ||
                         __builtin_mul_overflow(step[count], last[count], &span) ||
                         __builtin_add_overflow(reach, span, &reach);
      sound &= !wraps && !(reach >> 60);
      ++count;
    }
    for (int i = 0; sound && i < count; ++i) {
      if (step[i] != width) continue;
      width *= last[i] + 1;
      reach -= step[i] * last[i];
      step[i] = step[--count];
      last[i] = last[count];
      i = -1;  // dims seen before may continue the wider run
    }
  }

  static uint64_t Distance(int64_t stride) {
    const auto step = static_cast<uint64_t>(stride);
    return stride < 0 ? 0 - step : step;
  }

  // True if the runs fill `range`, which may have wrapped, or begin within a byte.
  bool Fill(const Range& range) const { return sound && (range.end - range.begin) * 8 == reach + width; }

  // A unit that all its lengths are multiples of, in bits, and that divides `unit` (0: no such need).
  uint64_t Unit(uint64_t unit) const {
    unit = BoxEquation::Divisor(width, unit);
    for (int i = 0; i < count; ++i) unit = BoxEquation::Divisor(step[i], unit);
    return unit;
  }
};

// Tells if two tensors with elements share a byte; their ranges meet, and have the same base (GetRange).
KP_COLD inline Sharing SharedBytes(const KpDLTensor& a, const Range& a_range, const KpDLTensor& b,
                                   const Range& b_range) {
  const Runs x(a);
  const Runs y(b);
  if (!x.Fill(a_range) || !y.Fill(b_range)) return Sharing::kSome;
  // From y's highest run back to x's lowest one.
  const uint64_t bytes = b_range.begin > a_range.begin ? b_range.begin - a_range.begin : a_range.begin - b_range.begin;
  const uint64_t unit = y.Unit(x.Unit(8 * bytes));
  if (unit % 8) return Sharing::kSome;  // elements smaller than a byte, not in whole bytes
  BoxEquation equation;
  for (int i = 0; i < x.count; ++i) {
    if (x.step[i]) equation.Add(x.step[i] / unit, x.last[i]);
  }
  for (int i = 0; i < y.count; ++i) {
    if (y.step[i]) equation.Add(y.step[i] / unit, y.last[i]);
  }
  // Two runs meet where the second begins less than its width before the first, or less than the first's width after it.
  equation.Add(1, (x.width + y.width) / unit - 2);
  const uint64_t ahead = (y.reach + y.width) / unit - 1;
  int tries = kOverlapTries;
  return equation.Solve(b_range.begin > a_range.begin ? ahead + 8 * bytes / unit : ahead - 8 * bytes / unit, &tries);
}

// Tells if elements of a tensor share memory. The width of an element is in bits: two elements of 4 bits may lie in a byte.
KP_COLD inline Sharing SharedElements(const KpDLTensor& t) {
  Runs runs(t);
  for (int i = 0; i < runs.count; ++i) {
    if (runs.step[i] < runs.width) return Sharing::kSome;
  }
  if (!runs.sound) return Sharing::kSome;
  const uint64_t unit = runs.Unit(0);
  // Two runs differ in dims 0 to k, in dim k by one step or more: no other dims lead back by so much. Dims have no order: by step,
  // most such differences are seen at once to be too large.
  for (int k = 0; k < runs.count; ++k) {
    for (int i = k + 1; i < runs.count; ++i) {
      if (runs.step[i] > runs.step[k]) {
        const uint64_t step = runs.step[k];
        const uint64_t last = runs.last[k];
        runs.step[k] = runs.step[i];
        runs.last[k] = runs.last[i];
        runs.step[i] = step;
        runs.last[i] = last;
      }
    }
  }
  int tries = kOverlapTries;
  for (int k = 0; k < runs.count; ++k) {
    BoxEquation equation;
    uint64_t back = runs.width / unit - 1;
    equation.Add(1, 2 * back);
    equation.Add(runs.step[k] / unit, runs.last[k] - 1);
    for (int i = k + 1; i < runs.count; ++i) {
      equation.Add(runs.step[i] / unit, 2 * runs.last[i]);
      back += runs.step[i] / unit * runs.last[i];
    }
    if (back < runs.step[k] / unit) continue;
    const Sharing found = equation.Solve(back - runs.step[k] / unit, &tries);
    if (found != Sharing::kNone) return found;
  }
  return Sharing::kNone;
}

// Tells if two tensors share a byte, where `a` occupies `a_range`.
inline Sharing Overlap(const KpDLTensor& a, const Range& a_range, const KpDLTensor& b) {
  if (a.device.device_type != b.device.device_type || a.device.device_id != b.device.device_id) return Sharing::kNone;
  if (a.data != b.data && DataIsHandle(a.device.device_type)) return Sharing::kNone;
  const Range b_range = GetRange(b);
  if (a_range.begin >= b_range.end || b_range.begin >= a_range.end) return Sharing::kNone;
  if (a_range.begin == a_range.end) return Sharing::kNone;
  return SharedBytes(a, a_range, b, b_range);
}

// Tells if several indices reach one element. A tensor without elements has no shared element.
inline Sharing OverlapWithItself(const KpDLTensor& t) {
  bool nested = true;  // each dim steps over all that the dims after it reach
  uint64_t reach = 0;
  for (int32_t i = t.strides ? t.ndim : 0; i-- > 0;) {
    if (t.shape[i] == 0) return Sharing::kNone;
    if (t.shape[i] == 1) continue;
    const uint64_t stride = Runs::Distance(t.strides[i]);
    uint64_t span = 0;
    nested &= stride > reach && !__builtin_mul_overflow(stride, static_cast<uint64_t>(t.shape[i]) - 1, &span) &&
              !__builtin_add_overflow(reach, span, &reach);
  }
  return KP_LIKELY(nested) ? Sharing::kNone : SharedElements(t);
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_OVERLAP_H_
