// The grammar: what compiles, and for each reason one text that does not, with the position of the fault.
#include <kernpack/signature/compile.h>

#include "fixture.h"

namespace {

using kernpack::signature::Reason;

struct Bad {
  const char* text;
  uint32_t position;
  Reason reason;
};

kernpack::signature::Status Compile(const std::string& text) {
  const auto size = static_cast<uint32_t>(text.size());
  std::vector<uint32_t> words(kernpack::signature::ProgramCapacity(size));
  std::vector<char> pool(kernpack::signature::PoolCapacity(size));
  return kernpack::signature::Compile(text.data(), size, words.data(), pool.data());
}

TEST(Parse, AcceptsTheDesignsExamples) {
  for (const char* text : {
           "rms_norm(x: T[..., D], weight: T[D], *, eps: float = 1e-6) -> (out: T[..., D]) where T in {f32, f16, bf16}",
           "matmul(a: T[..., M, K], b: T[~..., K, N], bias: T[N]? = None) -> (out: T[..., M, N]) where T in {f32, "
           "bf16}",
           "topk(x: f32[..., N], *, k: int) -> (values: f32[..., k], indices: i32[..., k]) where 0 < k <= N",
           "quantize(x: T[N, D], *, group: int = 128) -> (q: i8[N, D], scale: f32[N, D // group]) "
           "where T in {f32, f16}, D % group == 0",
           "kv_append(cache!: T[P, S, H, D], key: T[B, H, D], slot: I[B]) -> () where T in any, I in {i32, i64} "
           "with independent(H)",
           "rms_norm_backward(d_out: T[..., D], x: T[..., D], weight: T[D], *, eps: float) -> "
           "(d_x: T[..., D], d_weight: T[D] sum) where T in {f32, f64}",
       }) {
    EXPECT_EQ(ParseError(text), "") << text;
  }
}

TEST(Parse, AcceptsEveryProduction) {
  for (const char* text : {
           "() -> ()",
           "(*, k: int) -> ()",
           "(x: f32[]) -> (y: f32[])",
           "(x: f32[_, 3, N] strided @cpu) -> ()",
           "(x: f32[*S, D], y: f32[*S]) -> (z: f32[*S, 2])",
           "(x: list[f32[N]], s: list[str] = []) -> (y: f32[N])",
           "(x: bool[N], b: bool = False, d: device? = None, t: dtype = bf16) -> (y: t[N])",
           "(m: str in {\"a\", 'b'} = 'b') -> ()",
           "(a: float = inf, b: float = -inf, c: float = nan, d: float = -1.5e3, e: float? = None) -> ()",
           "(a: list[float] = [1, 2.5, inf], b: list[dtype] = [f32, i8]) -> ()",
           "(x: T[N]) -> (a: real(T)[N] aux, b: complex(T)[N] sum) where T in {f32, c64}",
           "(x: f32[N]) -> () where N >= 1, N != 7, -N < 0, min(N, 8, 9) == max(N, 1), ceildiv(N, 2) > 0",
           "(x: T[N]) -> () where T in any with quick, graph_safe, deterministic, on \"cuda\", nondiff(x), "
           "workspace = numel(x) * itemsize(T) + 12345678901",
           "(x: f32[..., N], y: f32[N, M]) -> (z: f32[..., M]) with invariant(batch, M), deterministic",
           "(x: f8_e4m3fn[N], y: f4_e2m1fn[N], z: i4[N]) -> ()",
           "(d_out: f32[N], out: f32[N]) -> (d_x: f32[N])",
           "(x: f32[N], s: list[int] = [1, 2]) -> (y: f32[s[0], (N - 1) // s[1] + 1]) where s[ 0 ] > 0 with "
           "workspace = s[1] * 4",
           "(x: f32[s[2]], s: list[int]) -> (y: f32[s[0]])",
           " \n( x : f32 [ N ] )\t-> ( y : f32 [ ( N + 1 ) * 2 ] ) ",
       }) {
    EXPECT_EQ(ParseError(text), "") << text;
  }
}

TEST(Parse, RefusesWithReasonAndPosition) {
  const Bad cases[] = {
      {"x: f32[N]", 1, Reason::kExpectedOpeningParenthesis},
      {"(x: f32[N] -> ()", 11, Reason::kExpectedClosingParenthesis},
      {"(x: f32[N])", 11, Reason::kExpectedArrow},
      {"() -> () then", 9, Reason::kExpectedEndWhereOrWith},
      {"(3: int) -> ()", 1, Reason::kExpectedName},
      {"(xY: int) -> ()", 1, Reason::kNameMustBeLowerCase},
      {"(X: int) -> ()", 1, Reason::kNameMustBeLowerCase},
      {"(lambda: int) -> ()", 1, Reason::kReservedName},
      {"(__debug__: int) -> ()", 1, Reason::kReservedName},  // Python refuses to assign to it
      {"(f32: int) -> ()", 1, Reason::kReservedName},
      {"(None: int) -> ()", 1, Reason::kNameMustBeLowerCase},
      {"(x: T[None]) -> ()", 6, Reason::kReservedName},
      {"(x: int, x: int) -> ()", 9, Reason::kDuplicateName},
      {"(x: f32[]) -> (x: f32[])", 15, Reason::kDuplicateName},
      {"(x int) -> ()", 3, Reason::kExpectedColon},
      {"(x: ) -> ()", 4, Reason::kExpectedType},
      {"(x: f33[N]) -> ()", 4, Reason::kUnknownDType},
      {"(x: f32) -> ()", 7, Reason::kExpectedShape},
      {"(x: f32[N) -> ()", 9, Reason::kExpectedClosingBracket},
      {"(x: f32[N] @cuda) -> ()", 12, Reason::kExpectedCpuAfterAt},
      {"(*) -> ()", 2, Reason::kStarStartsKeywordOnly},
      {"(*, a: int, *, b: int) -> ()", 12, Reason::kStarStartsKeywordOnly},
      {"(a: int = 1, b: int) -> ()", 13, Reason::kDefaultBeforeNoDefault},
      {"(a!: int) -> ()", 2, Reason::kMutatedMustBeTensor},
      {"(a!: list[int]) -> ()", 2, Reason::kMutatedMustBeTensor},
      {"(a: list[list[int]]) -> ()", 9, Reason::kListInList},
      {"(a: list[int]?) -> ()", 13, Reason::kListInList},
      {"(a: int = ) -> ()", 10, Reason::kExpectedDefault},
      {"(a: int = 1.5) -> ()", 10, Reason::kDefaultDoesNotFit},
      {"(a: int = 'x') -> ()", 10, Reason::kDefaultDoesNotFit},
      {"(a: int = None) -> ()", 10, Reason::kNoneNeedsOptional},
      {"(a: int = 9223372036854775808) -> ()", 10, Reason::kNumberOutOfRange},
      {"(a: float = 1e999) -> ()", 12, Reason::kNumberOutOfRange},
      {"(a: float = 0.12345678901234567890) -> ()", 12, Reason::kTooManyDigits},
      {"(a: int = 12x) -> ()", 10, Reason::kMalformedNumber},
      {"(a: str in {'a'} = 'b') -> ()", 19, Reason::kDefaultNotAmongChoices},
      {"(a: str in {a}) -> ()", 12, Reason::kExpectedString},
      {"(a: str in 'a') -> ()", 11, Reason::kExpectedOpeningBrace},
      {"(a: str in {'a' 'b'}) -> ()", 16, Reason::kExpectedClosingBrace},
      {"(a: str in {'a', 'a'}) -> ()", 17, Reason::kDuplicateChoice},
      {"(a: str = 'a", 10, Reason::kUnterminatedString},
      {"(a: str = '\\q') -> ()", 12, Reason::kBadCharacterInString},
      {"(a: int $) -> ()", 8, Reason::kUnexpectedCharacter},
      {"(x: f32[N, ...]) -> ()", 11, Reason::kBatchMustComeFirst},
      {"(x: f32[..., N]) -> (y: f32[~..., N])", 28, Reason::kBroadcastBatchInResult},
      {"(x: f32[~..., N]) -> ()", 7, Reason::kBroadcastBatchWithoutBatch},
      {"(x: f32[N]) -> (y: f32[..., N])", 23, Reason::kBatchNeverBound},
      {"(x: f32[..., N]?) -> (y: f32[...])", 29, Reason::kBatchNeverBound},
      {"(x: f32[*3]) -> ()", 9, Reason::kStarNeedsVariable},
      {"(x: f32[*S, *R]) -> ()", 12, Reason::kOneStarATensor},
      {"(x: f32[N]) -> (y: f32[_])", 23, Reason::kAnyDimInResult},
      {"(x: N[N]) -> ()", 6, Reason::kVariableIsBothDTypeAndDim},
      {"(x: f32[N], y: N[M]) -> ()", 15, Reason::kVariableIsBothDTypeAndDim},
      {"(x: f32[N + 1]) -> ()", 8, Reason::kDimNeverBound},
      {"(x: f32[N]) -> (y: f32[M])", 23, Reason::kDimNeverBound},
      {"(x: f32[N]?) -> (y: f32[N])", 24, Reason::kDimMayBeAbsent},
      {"(x: f32[*S]?) -> (y: f32[*S])", 26, Reason::kStarNeverBound},
      {"(x: f32[N]) -> (y: T[N]) where T in any", 19, Reason::kDTypeVariableNeverUsed},
      {"(x: T[N]?) -> (y: T[1]) where T in any", 18, Reason::kDTypeMayBeAbsent},
      {"(x: T[N]) -> ()", 4, Reason::kDTypeVariableNotConstrained},
      {"(x: T[N]) -> () where T in any, T in {f32}", 32, Reason::kDTypeConstrainedTwice},
      {"(x: T[N]) -> () where T in {f99}", 28, Reason::kUnknownDType},
      {"(x: T[N]) -> () where T in f32", 27, Reason::kExpectedDTypeSet},
      {"(x: T[N]) -> (y: real(T)[N]) where T in {i32}", 17, Reason::kNoRealForm},
      {"(x: T[N]) -> (y: complex(T)[N]) where T in {f16}", 17, Reason::kNoComplexForm},
      {"(n: int) -> (y: n[3])", 16, Reason::kNotADTypeParameter},
      {"(x: f32[N]) -> () where", 23, Reason::kExpectedExpression},
      {"(x: f32[N]) -> () where N", 25, Reason::kExpectedRelation},
      {"(x: f32[N]) -> () where N < k", 28, Reason::kNotAnIntParameter},
      {"(k: int?) -> () where 0 < k", 26, Reason::kNotAnIntParameter},
      {"(x: f32[N], out: f32[N]) -> (out: f32[N])", 29, Reason::kDuplicateName},
      {"(s: list[int]) -> (y: f32[s])", 26, Reason::kListNeedsAnIndex},
      {"(s: list[int]) -> (y: f32[s[0], s])", 32, Reason::kListNeedsAnIndex},
      {"(s: list[int], x: f32[s, s[0]]) -> ()", 25, Reason::kNotAListOfInts},
      {"(k: int) -> (y: f32[k[0]])", 20, Reason::kNotAListOfInts},
      {"(s: list[float]) -> (y: f32[s[0]])", 28, Reason::kNotAListOfInts},
      {"(s: list[int]) -> (y: f32[s[-1]])", 28, Reason::kExpectedIndex},
      {"(s: list[int]) -> (y: f32[s[N]])", 28, Reason::kExpectedIndex},
      {"(s: list[int]) -> (y: f32[s[1.0]])", 28, Reason::kExpectedIndex},
      {"(w: Optional[f32[N]], x: f32[N]) -> ()", 16, Reason::kExpectedClosingBracket},
      {"(s: list[int]) -> (y: f32[s[64]])", 28, Reason::kExpectedIndex},
      {"(s: list[int]) -> (y: f32[s[0)])", 29, Reason::kExpectedClosingBracket},
      {"(s: list[int] = [1]) -> (y: f32[s[1]])", 32, Reason::kDefaultTooShort},
      {"(x: f32[s[1]], s: list[int] = [1]) -> ()", 8, Reason::kDefaultTooShort},
      {"(x: f32[N]) -> () where numel(x) > 1", 24, Reason::kOnlyInWorkspace},
      {"(x: f32[N]?) -> () with workspace = numel(x)", 42, Reason::kNotATensorParameter},
      {"(x: f32[N]) -> () where abs(N) > 1", 24, Reason::kNoSuchFunction},
      {"(x: f32[N]) -> () where min(N) > 1", 24, Reason::kWrongArgumentCount},
      {"(x: f32[N]) -> () where ceildiv(N, 1, 2) > 1", 24, Reason::kWrongArgumentCount},
      {"() -> () with fast", 14, Reason::kUnknownProperty},
      {"() -> () with quick, quick", 21, Reason::kDuplicateProperty},
      {"() -> () with workspace 3", 24, Reason::kExpectedEquals},
      {"() -> () with on \"tpu9\"", 17, Reason::kUnknownDevice},
      {"() -> () with independent(N)", 26, Reason::kExpectedDim},
      {"(x: f32[N]) -> () with invariant", 32, Reason::kExpectedOpeningParenthesis},
      {"(x: f32[N]) -> () with invariant(M)", 33, Reason::kExpectedInvariant},
      {"(x: f32[N]) -> () with invariant(batch)", 33, Reason::kExpectedInvariant},
      {"(x: f32[N]) -> () with invariant(N, N)", 36, Reason::kDuplicateChoice},
      {"(x: f32[...]) -> () with invariant(batch, batch)", 42, Reason::kDuplicateChoice},
      {"(x: f32[N]) -> () with invariant(N), invariant(N)", 37, Reason::kDuplicateProperty},
      {"() -> () with nondiff(x)", 22, Reason::kExpectedParameter},
      {"2.0 () -> ()", 0, Reason::kOfAnotherAbi},
      {"1.1 () -> ()", 0, Reason::kOfAnotherAbi},
      {" 1 () -> ()", 1, Reason::kMalformedVersion},
      {"1.0e5 () -> ()", 0, Reason::kMalformedVersion},
      {"(x: q4[N]) -> ()", 4, Reason::kReservedBlockDType},
      {"(x: f32[N]) -> (y: q8_0[N])", 19, Reason::kReservedBlockDType},
      {"(x: f32[N] compact strided) -> ()", 19, Reason::kStridedOrCompact},
      {"(x: f32[N] strided compact) -> ()", 19, Reason::kStridedOrCompact},
      {"(x!: f32[N] compact) -> ()", 12, Reason::kWrittenIsNotCompact},
      {"(x!: list[f32[N] compact]) -> ()", 17, Reason::kWrittenIsNotCompact},
      {"(x: list[f32[N]] compact) -> ()", 17, Reason::kMarkBehindList},
      {"(x: list[f32[N]] strided) -> ()", 17, Reason::kMarkBehindList},
      {"(x: list[f32[N]] @cpu) -> ()", 17, Reason::kMarkBehindList},
      {"(x: f32[N] compact aligned(16)) -> ()", 19, Reason::kReservedMark},
      {"(x: f32[N] aligned(16)) -> ()", 11, Reason::kReservedMark},
  };
  for (const Bad& bad : cases) {
    const auto status = Compile(bad.text);
    EXPECT_EQ(static_cast<int>(status.reason), static_cast<int>(bad.reason)) << bad.text;
    EXPECT_EQ(status.position, bad.position) << bad.text;
  }
}

TEST(Parse, RefusesTooMuchOfAnything) {
  std::string params, dims, nested(40, '('), many_results;
  for (int i = 0; i < 65; ++i) params += (i ? ", p" : "p") + std::to_string(i) + ": int";
  for (int i = 0; i < 33; ++i) dims += (i ? ", D" : "D") + std::to_string(i);
  for (int i = 0; i < 17; ++i) many_results += (i ? ", r" : "r") + std::to_string(i) + ": f32[]";
  EXPECT_EQ(Compile("(" + params + ") -> ()").reason, Reason::kTooManyParameters);
  EXPECT_EQ(Compile("() -> (" + many_results + ")").reason, Reason::kTooManyResults);
  EXPECT_EQ(Compile("(x: f32[" + dims + "]) -> ()").reason, Reason::kTooManyDims);
  EXPECT_EQ(Compile("(x: f32[N]) -> () where " + nested + "N < 1").reason, Reason::kExpressionTooDeep);
  EXPECT_EQ(Compile(std::string(20000, ' ')).reason, Reason::kTextTooLong);
}

TEST(Parse, SaysWhereInTheMessage) {
  EXPECT_EQ(ParseError("(x: f33[N]) -> ()", "scale"),
            "ValueError: scale: signature, position 4: no such dtype: (x:  <here> f33[N]) -> ()");
}

TEST(Parse, ACompiledContractSaysWhichAbiItNeeds) {
  for (const char* text : {"(x: f32[N]) -> ()", "1.0 (x: f32[N]) -> ()", " 1.0 f(x: f32[N]) -> ()"}) {
    const KpSignature* signature = nullptr;
    ASSERT_EQ(kp_signature_parse(kp_bytes(text), nullptr, &signature), 0) << text;
    EXPECT_EQ(kernpack::signature::GetAbi(kp_signature_program(signature), 1), 0x10000u) << text;
  }
  EXPECT_EQ(ParseError("1.7 (x: f32[N]) -> ()", "f"),
            "ImportError: f: the signature needs a host of ABI 1.7 or newer; this is 1.0: pip install -U kernpack");
}

TEST(Parse, ChecksTheName) {
  EXPECT_EQ(ParseError("f() -> ()", "f"), "");
  EXPECT_EQ(ParseError("f() -> ()", "g"), "ValueError: g: signature: expected the name g or none, got f");
}

TEST(Parse, InternsByText) {
  const KpSignature *a = nullptr, *b = nullptr;
  ASSERT_EQ(kp_signature_parse(kp_bytes("(k: int) -> ()"), nullptr, &a), 0);
  ASSERT_EQ(kp_signature_parse(kp_bytes("(k: int) -> ()"), "any_name", &b), 0);
  EXPECT_EQ(a, b);
  EXPECT_STREQ(kp_signature_text(a), "(k: int) -> ()");
}

struct Literal {
  static constexpr const char* kText = "(x: T[..., D], *, eps: float = 1e-6) -> (out: T[..., D]) where T in {f32, f16}";
  static constexpr uint32_t kSize = std::char_traits<char>::length(kText);
};

TEST(Parse, CompileTimeAndRunTimeGiveTheSameProgram) {
  using Compiled = kernpack::signature::Compiled<Literal>;
  const KpSignature* signature = nullptr;
  ASSERT_EQ(kp_signature_parse(kp_bytes(Literal::kText), nullptr, &signature), 0);
  const uint32_t* program = kp_signature_program(signature);
  ASSERT_EQ(program[kernpack::signature::kHeadWords], Compiled::kWords);
  for (uint32_t i = 0; i < Compiled::kWords; ++i) EXPECT_EQ(program[i], Compiled::Program()[i]) << i;
}

}  // namespace
