// The compiled form of a signature: uint32_t words without a pointer in them, so that a module's copy needs no
// relocation and a reader needs no decoding step. Written by compile.h, read by check.h and by the host.
//
//   words  0            kMagic | major << 8 | minor of the oldest ABI whose grammar has all that the text uses
//          1            length of the program in words
//          2            params | positional << 8 | results << 16 | dtype variables << 24
//          3            dims | stars << 8 | int references << 16 | conditions << 24
//          4            KpSigProps, kWrites | device type of `on` << 8 (0: none) | its name << 16
//          5 params     4 words each: name | kind << 16 | kCompactMark | flags << 24; dtype; shape, choices, or of a list of
//                         ints how many items it has at least; default
//          6 results    4 words each: name | flags << 24; dtype; shape; 0
//          7 dims       1 word each: name
//          8 stars      1 word each: name
//          9 dtypes     1 word each: word offset of: name | count << 16, then `count` dtypes (0: any)
//         10 ints       1 word each: index of the int parameter, or list of ints, that expressions refer to by this number
//         11 conditions 1 word each: word offset of: text | relations << 16, then code, relation, code, ...
//         12 workspace  word offset of: text, then code; 0: none
//         13 independent  word offset of: count, then dim indices; 0: none
//         14 nondiff      word offset of: count, then parameter indices; 0: none
//         15 pool       word offset of the NUL-terminated strings; the function's own name, maybe empty, comes first
//                         (with KP_PROP_INVARIANT, the word before it has a bit for each dim that invariant() names)
//
// (5 to 11 hold word offsets of tables.) Names and texts are byte offsets into the pool, 16 bits.
//   dtype    code | bits << 8 | DTypeForm << 16; for the forms other than fixed, `code` is an index
//   shape    dims | batch << 8 | (1 + position of the star) << 16; text; then one word per dim: DimOp | operand << 8
//   choices  count, then one text each
//   default  KP_TYPE_*; payload low; payload high (INT, FLOAT bits, BOOL, DTYPE, RAW_STR: text), or
//            kListDefault | count << 8, then `count` such triples
//   code     Op | operand << 8, reverse Polish, ended by Op::kEnd
#ifndef KERNPACK_SIGNATURE_PROGRAM_H_
#define KERNPACK_SIGNATURE_PROGRAM_H_

#include <kernpack/config.h>
#include <kernpack/host/signature.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "kernpack: signature programs keep their strings in little-endian words"
#endif

KP_NAMESPACE_BEGIN
namespace signature {

constexpr uint32_t kMagic = 0x4b530000;  // "KS"
constexpr uint32_t kRecord = 4;  // words of a parameter or result
constexpr uint32_t kMaxStars = 8;  // KpSigFrame::star_ndim
constexpr uint32_t kMaxStack = 16;  // values an expression may need at once
constexpr uint32_t kMaxText = 1 << 14;  // bytes of a signature, so that 16 bits address the pool
constexpr uint32_t kWrites = 0x80;
constexpr uint32_t kListDefault = 0xff;
constexpr uint32_t kCompactMark = 0x800000;

enum Header : uint32_t {
  kHeadMagic,
  kHeadWords,
  kHeadCounts,
  kHeadMoreCounts,
  kHeadProps,
  kHeadParams,
  kHeadResults,
  kHeadDims,
  kHeadStars,
  kHeadDTypes,
  kHeadInts,
  kHeadConditions,
  kHeadWorkspace,
  kHeadIndependent,
  kHeadNondiff,
  kHeadPool,
  kHeadSize
};

enum class DTypeForm : uint32_t {
  kFixed,  // code, bits
  kVar,  // a dtype variable
  kParam,  // the value of a dtype parameter
  kRealOf,  // real(T)
  kComplexOf,  // complex(T)
};

enum class Batch : uint32_t { kNone, kSame, kBroadcast };

enum class DimOp : uint32_t {
  kAny,  // _
  kConst,  // operand: the size, below 2^24
  kVar,  // operand: dim; binds it if nothing has
  kStar,  // operand: star
  kInt,  // operand: int reference
  kCode,  // operand: word offset of code
};

enum class Op : uint32_t {
  kEnd,
  kConst,  // operand: below 2^24
  kWide,  // the next two words: low, high
  kDim,
  kInt,
  kNumel,  // operand: parameter
  kItemSize,  // operand: dtype variable
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kFloorDivide,
  kModulo,
  kMin,
  kMax,
  kCeilDivide,
  kItem,  // operand: int reference | index << 8, of a list of ints
  kOpCount
};

enum class Relation : uint32_t { kLess, kLessEqual, kGreater, kGreaterEqual, kEqual, kNotEqual, kRelationCount };

// The oldest ABI (as KP_ABI_VERSION) whose hosts read a program; 0 where the words aren't a program.
constexpr uint32_t GetAbi(const uint32_t* words, uint32_t count) {
  if (!words || !count || (words[kHeadMagic] & 0xffff0000) != kMagic) return 0;
  return (words[kHeadMagic] >> 8 & 0xff) << 16 | (words[kHeadMagic] & 0xff);
}

// Reads a program. Usable in constant expressions, except for the strings.
struct View {
  const uint32_t* words;

  constexpr int NumParams() const { return static_cast<int>(words[kHeadCounts] & 0xff); }
  constexpr int NumPositional() const { return static_cast<int>(words[kHeadCounts] >> 8 & 0xff); }
  constexpr int NumResults() const { return static_cast<int>(words[kHeadCounts] >> 16 & 0xff); }
  constexpr int NumDTypes() const { return static_cast<int>(words[kHeadCounts] >> 24); }
  constexpr int NumDims() const { return static_cast<int>(words[kHeadMoreCounts] & 0xff); }
  constexpr int NumStars() const { return static_cast<int>(words[kHeadMoreCounts] >> 8 & 0xff); }
  constexpr int NumInts() const { return static_cast<int>(words[kHeadMoreCounts] >> 16 & 0xff); }
  constexpr int NumConditions() const { return static_cast<int>(words[kHeadMoreCounts] >> 24); }
  constexpr uint32_t Props() const { return words[kHeadProps] & (kWrites - 1); }
  constexpr int32_t OnDeviceType() const { return static_cast<int32_t>(words[kHeadProps] >> 8 & 0xff); }
  const char* OnDeviceName() const { return Text(words[kHeadProps] >> 16); }
  // True if a parameter is mutated.
  constexpr bool Writes() const { return (words[kHeadProps] & kWrites) != 0; }
  constexpr bool HasWorkspace() const { return words[kHeadWorkspace] != 0; }

  constexpr const uint32_t* Param(int i) const {
    return words + words[kHeadParams] + kRecord * static_cast<uint32_t>(i);
  }
  constexpr const uint32_t* Result(int i) const {
    return words + words[kHeadResults] + kRecord * static_cast<uint32_t>(i);
  }
  constexpr const uint32_t* DTypeSet(int i) const {
    return words + words[words[kHeadDTypes] + static_cast<uint32_t>(i)];
  }
  constexpr const uint32_t* Condition(int i) const {
    return words + words[words[kHeadConditions] + static_cast<uint32_t>(i)];
  }
  constexpr int IntParam(uint32_t reference) const { return static_cast<int>(words[words[kHeadInts] + reference]); }

  // NUL-terminated; lives as long as the program.
  const char* Text(uint32_t record) const {
    return reinterpret_cast<const char*>(words + words[kHeadPool]) + (record & 0xffff);
  }
  const char* Name() const { return Text(0); }
  const char* ParamName(int i) const { return Text(*Param(i)); }
  const char* ResultName(int i) const { return Text(*Result(i)); }
  const char* DimName(uint32_t i) const { return Text(words[words[kHeadDims] + i]); }
  // Bit i: invariant() names dim i.
  constexpr uint32_t InvariantDims() const { return Props() & KP_PROP_INVARIANT ? words[words[kHeadPool] - 1] : 0; }
  const char* StarName(uint32_t i) const { return Text(words[words[kHeadStars] + i]); }
};

// A dtype of one lane as one word: code | bits << 8.
constexpr uint32_t PackDType(KpDLDataType t) { return t.code | static_cast<uint32_t>(t.bits) << 8; }

constexpr KpDLDataType UnpackDType(uint32_t dtype) {
  return KpDLDataType{static_cast<uint8_t>(dtype & 0xff), static_cast<uint8_t>(dtype >> 8 & 0xff), 1};
}

constexpr uint32_t GetKind(const uint32_t* param) { return param[0] >> 16 & 0x7f; }
// Of a tensor that is taken with any strides (its flags say KP_PARAM_STRIDED too) and handed to the kernel compact.
constexpr bool IsMarkedCompact(const uint32_t* param) { return (param[0] & kCompactMark) != 0; }
constexpr uint32_t GetFlags(const uint32_t* record) { return record[0] >> 24; }
constexpr DTypeForm GetForm(uint32_t dtype) { return static_cast<DTypeForm>(dtype >> 16); }
constexpr uint32_t GetNumDims(const uint32_t* shape) { return shape[0] & 0xff; }
constexpr Batch GetBatch(const uint32_t* shape) { return static_cast<Batch>(shape[0] >> 8 & 0xff); }
// Position of the star among the dims, or -1.
constexpr int GetStar(const uint32_t* shape) { return static_cast<int>(shape[0] >> 16) - 1; }
constexpr const uint32_t* GetDims(const uint32_t* shape) { return shape + 2; }
constexpr DimOp GetDimOp(uint32_t dim) { return static_cast<DimOp>(dim & 0xff); }
constexpr uint32_t Operand(uint32_t word) { return word >> 8; }

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_PROGRAM_H_
