#include "values/object/map_layout.h"

#include <algorithm>
#include <cstring>

namespace kernpack::host {
namespace {

constexpr uint64_t kHashModulus = 2147483647;
constexpr uint64_t kHashMultiplier = 1099511628211;

// The text of a string (tag STR) or of bytes (tag BYTES); false for any other key.
bool GetText(const KpAny& key, int32_t* tag, KpBytes* text) noexcept {
  *tag = KP_TYPE_STR;
  if (kp_any_str(&key, text)) return true;
  *tag = KP_TYPE_BYTES;
  if (key.type_index == KP_TYPE_SMALL_BYTES) {
    *text = KpBytes{key.v.v_bytes, key.small_len};
  } else if (key.type_index == KP_TYPE_BYTES) {
    *text = reinterpret_cast<const KpStrObject*>(key.v.v_obj)->bytes;
  } else if (key.type_index == KP_TYPE_BYTE_ARRAY_PTR) {
    *text = *static_cast<const KpBytes*>(key.v.v_ptr);
  } else {
    return false;
  }
  return true;
}

uint64_t HashText(KpBytes text) noexcept {
  uint64_t hash = 0;
  for (size_t at = 0; at < text.size; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data + at, std::min<size_t>(8, text.size - at));
    hash = (hash * kHashMultiplier + word) % kHashModulus;
  }
  return hash;
}

uint64_t Combine(uint64_t tag, uint64_t hash) noexcept { return tag ^ (hash + 0x9e3779b9 + (tag << 6) + (tag >> 2)); }

}  // namespace

// 0 to 15, then triangular numbers: every one up to 2628, then ever fewer.
const uint64_t kProbeDistances[kProbeCount] = {
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    21,
    28,
    36,
    45,
    55,
    66,
    78,
    91,
    105,
    120,
    136,
    153,
    171,
    190,
    210,
    231,
    253,
    276,
    300,
    325,
    351,
    378,
    406,
    435,
    465,
    496,
    528,
    561,
    595,
    630,
    666,
    703,
    741,
    780,
    820,
    861,
    903,
    946,
    990,
    1035,
    1081,
    1128,
    1176,
    1225,
    1275,
    1326,
    1378,
    1431,
    1485,
    1540,
    1596,
    1653,
    1711,
    1770,
    1830,
    1891,
    1953,
    2016,
    2080,
    2145,
    2211,
    2278,
    2346,
    2415,
    2485,
    2556,
    2628,
    8515,
    19110,
    42778,
    96141,
    216153,
    486591,
    1092981,
    2458653,
    5532801,
    12442566,
    27993903,
    62983476,
    141717030,
    318844378,
    717352503,
    1614057336,
    3631522476,
    8170957530,
    18384510628,
    41364789378,
    93070452520,
    209408356380,
    471168559170,
    1060128894105,
    2385289465695,
    5366898840628,
    12075518705635,
    27169915244790,
    61132312065111,
    137547689707000,
    309482283181501,
    696335127828753,
    1566753995631385,
    3525196511162271,
    7931691992677701,
    17846306936293605,
    40154190677507445,
    90346928918121501,
    203280589587557251,
    457381325854679626,
    1029107982097042876,
    2315492959180353330,
    5209859154120846435,
};

uint64_t HashKey(const KpAny& key) noexcept {
  int32_t tag = 0;
  KpBytes text{};
  if (GetText(key, &tag, &text)) return Combine(static_cast<uint64_t>(tag), HashText(text));
  return Combine(static_cast<uint64_t>(key.type_index), key.v.v_bits);
}

bool SameKey(const KpAny& a, const KpAny& b) noexcept {
  int32_t tag_a = 0;
  int32_t tag_b = 0;
  KpBytes text_a{};
  KpBytes text_b{};
  const bool is_text = GetText(a, &tag_a, &text_a);
  if (is_text != GetText(b, &tag_b, &text_b)) return false;
  if (!is_text) return a.type_index == b.type_index && a.v.v_bits == b.v.v_bits;
  return tag_a == tag_b && text_a.size == text_b.size &&
         (text_a.size == 0 || std::memcmp(text_a.data, text_b.data, text_a.size) == 0);
}

}  // namespace kernpack::host
