// The limits of a signature: the last text that is accepted, the first that is not, and what the error says.
#include <functional>
#include <string>

#include "fixture.h"

namespace {

// item(0) + ", " + item(1) + ...
std::string List(int n, const std::function<std::string(std::string)>& item) {
  std::string text;
  for (int i = 0; i < n; ++i) text += (i ? ", " : "") + item(std::to_string(i));
  return text;
}

struct Limit {
  const char* name;
  int most;
  std::string (*text)(int n);
  const char* sentence;
};

const Limit kLimits[] = {
    {"Parameters", 64, [](int n) { return "(" + List(n, [](auto i) { return "p" + i + ": int"; }) + ") -> ()"; },
     "at most 64 parameters"},
    {"Results", 16, [](int n) { return "() -> (" + List(n, [](auto i) { return "r" + i + ": f32[]"; }) + ")"; },
     "at most 16 results"},
    {"DimNames", 32, [](int n) { return "(x: f32[" + List(n, [](auto i) { return "D" + i; }) + "]) -> ()"; },
     "at most 32 dim names"},
    {"Stars", 8, [](int n) { return "(" + List(n, [](auto i) { return "x" + i + ": f32[*S" + i + "]"; }) + ") -> ()"; },
     "at most 8 dims tuples (*Var)"},
    {"DTypeVariables", 8,
     [](int n) {
       return "(" + List(n, [](auto i) { return "x" + i + ": T" + i + "[]"; }) + ") -> () where " +
              List(n, [](auto i) { return "T" + i + " in any"; });
     },
     "at most 8 dtype variables"},
    {"ShapeDims", 64, [](int n) { return "(x: f32[" + List(n, [](auto) { return "2"; }) + "]) -> ()"; },
     "at most 64 dims in a shape"},
    {"IntReferences", 32,
     [](int n) {
       return "(" + List(n, [](auto i) { return "k" + i + ": int"; }) + ") -> () where " +
              List(1,
                   [n](auto) {
                     std::string sum = "k0";
                     for (int i = 1; i < n; ++i) sum += " + k" + std::to_string(i);
                     return sum;
                   }) +
              " > 0";
     },
     "at most 32 int parameters in expressions"},
    {"Conditions", 32, [](int n) { return "(k: int) -> () where " + List(n, [](auto i) { return "k > " + i; }); },
     "at most 32 conditions"},
    {"Choices", 64,
     [](int n) { return "(m: str in {" + List(n, [](auto i) { return "\"c" + i + "\""; }) + "}) -> ()"; },
     "at most 64 strings in a set"},
    {"Bytes", 16384, [](int n) { return "() -> ()" + std::string(static_cast<size_t>(n) - 8, ' '); },
     "the text is too long (at most 16384 bytes)"},
};

void PrintTo(const Limit& limit, std::ostream* out) { *out << limit.name; }

class Limits : public testing::TestWithParam<Limit> {};

TEST_P(Limits, TheLastIsAcceptedAndTheNextIsNot) {
  const Limit& limit = GetParam();
  EXPECT_EQ(ParseError(limit.text(limit.most), "f"), "");
  const std::string error = ParseError(limit.text(limit.most + 1), "f");
  EXPECT_EQ(error.rfind("ValueError: f: signature, position ", 0), 0u) << error;
  EXPECT_NE(error.find(std::string(": ") + limit.sentence + ": "), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(Signature, Limits, testing::ValuesIn(kLimits),
                         [](const auto& info) { return info.param.name; });

TEST(SignatureLimits, IntegersAreReadExactlyOrRefused) {
  EXPECT_EQ(ParseError("(k: int = 9223372036854775807) -> ()", "f"), "");
  EXPECT_EQ(ParseError("(k: int = -9223372036854775808) -> ()", "f"), "");
  for (const char* text :
       {"9223372036854775808", "-9223372036854775809", "99999999999999999999", "1000000000000000000000"}) {
    EXPECT_EQ(ParseError("(k: int = " + std::string(text) + ") -> ()", "f"),
              "ValueError: f: signature, position 10: the number is out of range: (k: int =  <here> " +
                  (std::string(text) + ") -> ()").substr(0, 20) + (std::string(text).size() > 13 ? "..." : ""));
  }
  EXPECT_NE(ParseError("(x: f32[99999999999999999999]) -> ()", "f").find("position 8: the number is out of range"),
            std::string::npos);
}

TEST(SignatureLimits, FloatsAreReadExactlyOrRefused) {
  EXPECT_EQ(ParseError("(e: float = 1.7976931348623157e308) -> ()", "f"), "");
  EXPECT_NE(ParseError("(e: float = 1e309) -> ()", "f").find("position 12: the number is out of range"),
            std::string::npos);
  EXPECT_NE(ParseError("(e: float = 0.12345678901234567891) -> ()", "f").find("at most 19 significant digits are read"),
            std::string::npos);
}

TEST(SignatureLimits, NestingEndsInAnErrorNotInTheStack) {
  const auto nested = [](size_t n) {
    return "(x: f32[N]) -> () where " + std::string(n, '(') + "N" + std::string(n, ')') + " < 1";
  };
  EXPECT_EQ(ParseError(nested(8), "f"), "");
  for (const size_t depth : {40u, 400u, 8000u}) {
    const std::string error = ParseError(nested(depth), "f");
    EXPECT_NE(error.find(": the expression nests too deeply: "), std::string::npos) << error.substr(0, 200);
  }
  EXPECT_NE(ParseError("(x: f32[N]) -> () where " + std::string(8000, '-') + "N < 1", "f").find("nests too deeply"),
            std::string::npos);
  std::string right = "N";  // 1 + (1 + (1 + ...)): as many values at once as there are levels
  for (int i = 0; i < 30; ++i) right = "1 + (" + right + ")";
  EXPECT_NE(ParseError("(x: f32[N]) -> () where " + right + " < 1", "f").find("nests too deeply"), std::string::npos);
}

}  // namespace
