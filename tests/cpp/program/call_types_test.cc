// Checks of a call in a program by the function's contract, compared with the check of a call with values.
#include <kernpack/error.h>
#include <kernpack/sdk/program/builder.h>
#include <kernpack/sdk/program/verify.h>

#include <gtest/gtest.h>

#include "program/random_calls.h"
#include "signature/fixture.h"

namespace kernpack::sdk::program {
namespace {

std::string GetText(const std::vector<Type>& types) {
  std::string text;
  for (const Type& type : types) text += (text.empty() ? "" : " ") + type.str();
  return text;
}

// The results of a call in a program, or its error: "TypeError: f: x: expected ...".
struct Verdict {
  std::vector<Type> types;
  std::string error;

  std::string str() const { return error.empty() ? GetText(types) : error; }
};

bool IsConstant(const GivenValue& value) { return value.known && value.type.is_host(); }

using Params = std::map<const GivenValue*, ValueId>;

// Parameters of the program where nothing more than the type is known.
void AddParams(ProgramBuilder* program, const GivenValue& value, Params* params) {
  if (value.type.kind == TypeKind::kTuple) {
    for (const GivenValue& element : value.elements) AddParams(program, element, params);
  } else if (!IsConstant(value)) {
    (*params)[&value] = program->Param("p", value.type);
  }
}

ValueId AddSteps(ProgramBuilder* program, const GivenValue& value, const Params& params) {
  if (value.type.kind != TypeKind::kTuple)
    return IsConstant(value) ? program->Const(value.constant) : params.at(&value);
  std::vector<ValueId> elements;
  for (const GivenValue& element : value.elements) elements.push_back(AddSteps(program, element, params));
  return program->Tuple(elements);
}

Verdict GetVerdict(const std::string& contract, const std::vector<GivenValue>& args) {
  FunctionTable functions;
  Function f;
  f.name = "f";
  f.signature = contract;
  const uint32_t* words = functions.Add(std::move(f)).words();
  ProgramBuilder b("main");
  Params params;
  for (const GivenValue& value : args) AddParams(&b, value, &params);
  std::vector<ValueId> values;
  for (const GivenValue& value : args) values.push_back(AddSteps(&b, value, params));
  const std::vector<ValueId> results = b.CallAll("f", values, static_cast<size_t>(kp_sig_num_results(words)));
  Verdict verdict;
  try {
    const std::vector<Type> types = InferTypes({{b.Finish()}}, functions)[0];
    for (const ValueId result : results) verdict.types.push_back(types[result]);
  } catch (const Error& e) {
    const std::string prefix = "program main: call ";
    const std::string text = e.what();
    EXPECT_EQ(text.substr(0, prefix.size()), prefix);
    verdict.error = std::string(e.kind().data, e.kind().size) + ": " + text.substr(prefix.size());
  }
  return verdict;
}

void AddTo(Call* call, const GivenValue& value) {
  if (value.type.kind == TypeKind::kTuple) {
    for (const GivenValue& element : value.elements) AddTo(call, element);
    call->List(value.elements.size());
  } else if (value.type.is_tensor()) {
    std::vector<int64_t> shape;
    for (const Dim& d : *value.type.dims) shape.push_back(d.extent);
    call->Tensor(shape, value.type.dtype);
  } else if (const auto* number = std::get_if<int64_t>(&value.constant)) {
    call->Int(*number);
  } else if (const auto* real = std::get_if<double>(&value.constant)) {
    call->Float(*real);
  } else if (const auto* truth = std::get_if<bool>(&value.constant)) {
    call->Bool(*truth);
  } else if (const auto* text = std::get_if<std::string>(&value.constant)) {
    call->Str(text->c_str());
  } else if (const auto* dtype = std::get_if<DType>(&value.constant)) {
    call->DType(*dtype);
  } else {
    call->None();
  }
}

// The same of kp_sig_check and kp_sig_lend.
Verdict GetCheckedVerdict(const RandomCall& drawn) {
  Call call(drawn.contract);
  for (const GivenValue& value : drawn.args) AddTo(&call, value);
  Verdict verdict{{}, call.Check("f", KP_SIG_ABSTRACT)};
  if (verdict.error.empty()) verdict.error = call.LendError();
  verdict.error = verdict.error.substr(0, verdict.error.find('\n'));  // a drawing follows, for people who call
  for (int i = 0; verdict.error.empty() && i < kp_sig_num_results(call.program); ++i) {
    verdict.error = call.ResultError(i);
    const int64_t* shape = call.shape;
    const int64_t* end = shape + call.prototype.ndim;
    verdict.types.push_back(Type::Tensor(DType(call.prototype.dtype), std::vector<Dim>(shape, end)));
  }
  return verdict;
}

std::vector<GivenValue> WrittenIn(const RandomCall& call) {
  return {call.args.begin(), call.args.begin() + static_cast<ptrdiff_t>(call.written)};
}

// `visit` gets as many calls whose contract compiles.
template <class Visit>
void ForRandomCalls(uint32_t seed, int count, const Visit& visit) {
  RandomCalls random(seed);
  for (int done = 0, drawn = 0; done < count; ++drawn) {
    ASSERT_LT(drawn, 100 * count) << "next to no contract compiles";
    const RandomCall call = random.Draw();
    if (!ParseError(call.contract).empty()) continue;
    visit(&random, call);
    ++done;
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "number " << drawn << " of seed " << seed << ": " << call.contract;
      return;
    }
  }
}

TEST(CallTypes, SayOfConstantShapesWhatTheCheckOfACallSays) {
  int accepted = 0;
  int refused = 0;
  std::set<std::string> words;  // texts without what differs from call to call
  ForRandomCalls(1, 4000, [&](RandomCalls*, const RandomCall& call) {
    const Verdict expected = GetCheckedVerdict(call);
    EXPECT_EQ(GetVerdict(call.contract, WrittenIn(call)).str(), expected.str());
    ++(expected.error.empty() ? accepted : refused);
    std::string pattern;
    for (const char c : expected.error) {
      if (!std::isdigit(static_cast<unsigned char>(c))) pattern += c;
    }
    words.insert(pattern.substr(0, pattern.find('[')));
  });
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 1000);
  EXPECT_GT(words.size(), 50U);
}

// The numbers that the symbols of RandomCalls::Vaguer stand for: those in their names.
Type WithNumbers(Type type) {
  for (size_t i = 0; type.dims && i < type.dims->size(); ++i) {
    Dim& d = (*type.dims)[i];
    if (!d.symbol.empty()) d = Dim(static_cast<int64_t>(std::stoll(d.symbol.substr(1))));
  }
  return type;
}

TEST(CallTypes, SayOfSymbolsNothingThatTheNumbersInTheirPlaceBelie) {
  int unknown = 0;
  int found_early = 0;
  ForRandomCalls(2, 4000, [&](RandomCalls* random, const RandomCall& call) {
    std::vector<GivenValue> vague = WrittenIn(call);
    for (GivenValue& value : vague) {
      for (GivenValue& element : value.elements) {
        element.type = random->Vaguer(element.type);
        element.known = random->Chance(2);
      }
      value.type = random->Vaguer(value.type);
      value.known = random->Chance(2);
    }
    const Verdict exact = GetVerdict(call.contract, WrittenIn(call));
    const Verdict verdict = GetVerdict(call.contract, vague);
    if (!verdict.error.empty()) {
      EXPECT_NE(exact.error, "") << "refused before: " << verdict.error;
      ++found_early;
    } else if (exact.error.empty()) {
      ASSERT_EQ(verdict.types.size(), exact.types.size());
      for (size_t i = 0; i < exact.types.size(); ++i) {
        const Type& type = verdict.types[i];
        EXPECT_TRUE(Fits(exact.types[i], WithNumbers(type))) << type.str() << ", but " << exact.types[i].str();
        unknown += type != exact.types[i];
      }
    }
  });
  EXPECT_GT(unknown, 200);
  EXPECT_GT(found_early, 200);
}

struct SymbolicCase {
  const char* name;
  const char* contract;
  std::vector<Type> args;
  const char* verdict;
};
void PrintTo(const SymbolicCase& one, std::ostream* out) { *out << one.name; }

GivenValue OfType(const Type& type) {
  GivenValue value{type, {}, type.kind == TypeKind::kNone, {}};
  for (const Type& element : type.elements) value.elements.push_back(OfType(element));
  return value;
}

class SymbolicCall : public testing::TestWithParam<SymbolicCase> {};

TEST_P(SymbolicCall, IsDecidedOrLeftToTheRun) {
  std::vector<GivenValue> args;
  for (const Type& type : GetParam().args) args.push_back(OfType(type));
  EXPECT_EQ(GetVerdict(GetParam().contract, args).str(), GetParam().verdict);
}

Type F32(std::vector<Dim> dims) { return Type::Tensor(f32, std::move(dims)); }

INSTANTIATE_TEST_SUITE_P(
    All, SymbolicCall,
    testing::Values(
        SymbolicCase{"ASymbolIsBound", "(x: f32[N]) -> (a: f32[N, 2])", {F32({"A"})}, "f32[A, 2]"},
        SymbolicCase{
            "ANumberSaysMoreThanASymbol", "(x: f32[N], y: f32[N]) -> (a: f32[N])", {F32({"A"}), F32({5})}, "f32[5]"},
        SymbolicCase{"ASymbolSaysMoreThanAnUnknownDim",
                     "(x: f32[N], y: f32[N]) -> (a: f32[N])",
                     {F32({Dim()}), F32({"A"})},
                     "f32[A]"},
        SymbolicCase{"AnUnknownDimStaysUnknown", "(x: f32[N]) -> (a: f32[N])", {F32({Dim()})}, "f32[_]"},
        SymbolicCase{"WhatOneDimSaysHoldsForTheSymbolElsewhere",
                     "(x: f32[N], y: f32[N], z: f32[M], w: f32[M]) -> (a: f32[M])",
                     {F32({"A"}), F32({5}), F32({"A"}), F32({"B"})},
                     "f32[5]"},
        SymbolicCase{"ASymbolThatMustBeTwoNumbersIsRefused",
                     "(x: f32[N], y: f32[N], z: f32[M], w: f32[M]) -> ()",
                     {F32({"A"}), F32({5}), F32({"A"}), F32({6})},
                     "ValueError: f: w: expected shape [M] with M = 5 (bound by z), got [6]"},
        SymbolicCase{"SymbolsThatAreTheSameAreRefusedTogether",
                     "(x: f32[N], y: f32[N], z: f32[3], w: f32[4]) -> ()",
                     {F32({"A"}), F32({"B"}), F32({"B"}), F32({"A"})},
                     "ValueError: f: w: expected shape [4], got [3]"},
        SymbolicCase{"AWrongRankShowsTheSymbols",
                     "(x: f32[N]) -> ()",
                     {F32({"A", Dim(), 2})},
                     "ValueError: f: x: expected shape [N] (1 dim), got [A, _, 2] (3 dims)"},
        SymbolicCase{"AnExpressionOverSymbolsIsUnknown", "(x: f32[N]) -> (a: f32[2 * N])", {F32({"A"})}, "f32[_]"},
        SymbolicCase{"AnExpressionIsEvaluatedWhenItsDimIsFound",
                     "(x: f32[N], y: f32[N]) -> (a: f32[2 * N])",
                     {F32({"A"}), F32({5})},
                     "f32[10]"},
        SymbolicCase{"AnExpressionTellsTheSymbolThatMeetsIt",
                     "(x: f32[N], y: f32[2 * N, K]) -> (a: f32[K])",
                     {F32({3}), F32({"A", "A"})},
                     "f32[6]"},
        SymbolicCase{"AConditionOverSymbolsIsLeftToTheRun", "(x: f32[N]) -> () where N == 4", {F32({"A"})}, ""},
        SymbolicCase{"AConditionOverNumbersIsChecked",
                     "(x: f32[N, M]) -> () where N == 4",
                     {F32({5, "A"})},
                     "ValueError: f: expected N == 4, got N = 5 (bound by x)"},
        SymbolicCase{"AResultThatNoRunCanHaveIsRefused",
                     "(x: f32[N, M]) -> (a: f32[N - 8, M])",
                     {F32({5, "A"})},
                     "ValueError: f: a: expected shape [N - 8, M], got a negative size"},
        SymbolicCase{"AnIntOfTheRunIsUnknown",
                     "(x: f32[N], k: int) -> (a: f32[N, k])",
                     {F32({"A"}), Type::Of(TypeKind::kInt)},
                     "f32[A, _]"},
        SymbolicCase{"ADTypeOfTheRunIsUnknown",
                     "(x: f32[N], to: dtype) -> (a: to[N])",
                     {F32({"A"}), Type::Of(TypeKind::kDType)},
                     "?"},
        SymbolicCase{"AStrOfTheRunMayBeAnyChoice", "(m: str in {'a', 'b'}) -> ()", {Type::Of(TypeKind::kStr)}, ""},
        SymbolicCase{"AnUnknownArgumentMayBeAnything",
                     "(x: f32[N], y: f32[N], l: list[f32[N]]) -> (a: f32[N])",
                     {Type::Unknown(), F32({"A"}), Type::Unknown()},
                     "f32[A]"},
        SymbolicCase{"AnUnknownArgumentBindsNothing",
                     "(x: f32[N], y: f32[N], z: f32[N]) -> ()",
                     {Type::Unknown(), F32({2}), F32({3})},
                     "ValueError: f: z: expected shape [N] with N = 2 (bound by y), got [3]"},
        SymbolicCase{"WhatOnlyAnUnknownArgumentBindsIsUnknown",
                     "(x: T[N], y: f32[M]) -> (a: T[N], b: f32[N, M]) where T in any",
                     {Type::Unknown(), F32({2})},
                     "? f32[_, 2]"},
        SymbolicCase{"AnUnknownRankBindsTheDType",
                     "(x: T[..., N], y: T[..., N]) -> (a: T[..., N], b: T[N]) where T in any",
                     {Type::Tensor(f16), Type::Tensor(f16)},
                     "f16[...] f16[_]"},
        SymbolicCase{"TheOtherTensorTellsTheRank",
                     "(x: f32[..., N], y: f32[..., N]) -> (a: f32[..., N])",
                     {Type::Tensor(f32), F32({2, "A", 3})},
                     "f32[2, A, 3]"},
        SymbolicCase{"AnUnknownRankBindsNoDims",
                     "(x: f32[..., N], y: f32[..., N], z: f32[..., N]) -> ()",
                     {Type::Tensor(f32), F32({2, 3}), F32({4, 3})},
                     "ValueError: f: z: expected shape [..., N] with ... = [2] (bound by y), got [4, 3]"},
        SymbolicCase{"AnUnknownRankStillHasADType",
                     "(x: f32[N]) -> ()",
                     {Type::Tensor(f16)},
                     "TypeError: f: x: expected dtype f32, got f16"},
        SymbolicCase{"ABroadcastSymbolMayBeOne",
                     "(x: f32[..., N], y: f32[~..., N]) -> (a: f32[..., N])",
                     {F32({4, "A"}), F32({"B", "A"})},
                     "f32[4, A]"},
        SymbolicCase{"ABroadcastNumberTellsTheBatch",
                     "(x: f32[..., N], y: f32[~..., N]) -> (a: f32[..., N])",
                     {F32({"B", "A"}), F32({4, "A"})},
                     "f32[4, A]"},
        SymbolicCase{"ADimsTupleOfSymbolsIsBound",
                     "(x: f32[*S, N], y: f32[*S]) -> (a: f32[N, *S])",
                     {F32({"A", 2, "B"}), F32({3, Dim()})},
                     "f32[B, 3, 2]"},
        SymbolicCase{"ANumberOfTheRunForATensor", "(x: f32[]) -> ()", {Type::Of(TypeKind::kFloat)}, ""},
        SymbolicCase{"AnElementIsNamed",
                     "(l: list[f32[N]]) -> ()",
                     {Type::Tuple({F32({"A"}), Type::Unknown(), Type::Tensor(i32, std::vector<Dim>{"A"})})},
                     "TypeError: f: l[2]: expected dtype f32, got i32"},
        SymbolicCase{"AShapeIsNoList",
                     "(l: list[int]) -> ()",
                     {Type::Of(TypeKind::kShape)},
                     "TypeError: f: l: expected a list, got Shape"},
        SymbolicCase{"NoneMustBeOptional",
                     "(x: f32[N], y: f32[N]? = None) -> ()",
                     {Type::Of(TypeKind::kNone), Type::Of(TypeKind::kNone)},
                     "TypeError: f: x: expected a tensor of shape [N], got None"},
        SymbolicCase{"ADeviceCannotCome",
                     "(d: device? = None) -> ()",
                     {Type::Of(TypeKind::kInt)},
                     "TypeError: f: d: expected device, got int"},
        SymbolicCase{"AnEmptyDimMayMakeUpForALargeOne",
                     "(x: f32[N, M, K]) -> (a: f32[N, M, K])",
                     {F32({"A", int64_t{1} << 40, int64_t{1} << 20})},
                     "f32[A, 1099511627776, 1048576]"},
        SymbolicCase{
            "WhatIsTooLargeForAnySymbolIsRefused",
            "(x: f32[N, M, K]) -> ()",
            {F32({"A", int64_t{1} << 40, int64_t{1} << 40})},
            "ValueError: f: x: expected sizes of at least 0 whose product fits 64 bits, got [A, 1099511627776, "
            "1099511627776]"},
        SymbolicCase{
            "AWorkspaceOfSymbolsIsLeftToTheRun", "(x: f32[N]) -> () with workspace = numel(x) - 8", {F32({"A"})}, ""},
        SymbolicCase{"AWorkspaceOfNumbersIsChecked",
                     "(x: f32[N], y: f32[M]) -> () with workspace = N - 8",
                     {F32({2}), F32({"A"})},
                     "ValueError: f: expected workspace = N - 8 to be at least 0 bytes, got -6: N = 2"},
        SymbolicCase{"TooFewArguments",
                     "(x: f32[N], y: f32[N], k: int = 2) -> ()",
                     {F32({"A"})},
                     "TypeError: f: expected at least 2 arguments (y has no default), got 1"},
        SymbolicCase{"TooManyArguments",
                     "(x: f32[N]) -> (a: f32[N])",
                     {F32({"A"}), F32({"A"})},
                     "TypeError: f: expected at most 1 arguments (x), got 2"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kernpack::sdk::program
