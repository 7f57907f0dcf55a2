// Random functions, compiled by the generator of kind c and interpreted, agree on every bit; and the comparison finds
// what is wrong.
#include <gtest/gtest.h>

#include <set>

#include "differential/agree.h"

namespace ir_test {
namespace {

// Optimising costs most of the time, so not every batch does; nor does every batch have vectors that fit a register.
constexpr const char* kFlags[] = {"-O0", "-O0 -DKP_VECTORS=0", "-O0", "-O2", "-O0 -DKP_VECTORS=0", "-O0", "-O0",
                                  "-O0", "-O0 -DKP_VECTORS=0", "-O1", "-O0"};
constexpr int kVectorBits[] = {128, 512, 256};

class IrDifferential : public testing::TestWithParam<uint64_t> {};

TEST_P(IrDifferential, CAgreesWithTheInterpreter) {
  ExpectAgreementOn("c", GetParam(),
                    ColumnC(kFlags[GetParam() % std::size(kFlags)], kVectorBits[GetParam() % std::size(kVectorBits)]));
}
INSTANTIATE_TEST_SUITE_P(Batches, IrDifferential, testing::Range<uint64_t>(0, kBatches));

class IrStageDifferential : public testing::TestWithParam<uint64_t> {};

TEST_P(IrStageDifferential, CAgreesWithTheInterpreter) {
  ExpectStagesAgreeOn("c", GetParam(), ColumnC(GetParam() % 2 ? "-O0 -DKP_VECTORS=0" : "-O0", 256));
}
INSTANTIATE_TEST_SUITE_P(Batches, IrStageDifferential, testing::Range<uint64_t>(0, kStageBatches));

bool HasMath(const Block& block) {
  struct Finder : Visitor {
    bool found = false;
    void VisitExpr(const Expr& e) override {
      found = found || ClassOf(e->op) == OpClass::Math || e->op == Op::kPow;
      Visitor::VisitExpr(e);
    }
  } finder;
  finder.VisitBlock(block);
  return finder.found;
}

std::vector<const FuncNode*> CollectCallees(const FuncNode& f, const IRModule& module) {
  struct Finder : Visitor {
    const IRModule& module;
    std::vector<const FuncNode*> found;
    explicit Finder(const IRModule& m) : module(m) {}
    void VisitStmt(const Stmt& s) override {
      if (s->kind == StmtKind::kCall) found.push_back(module.Find(s->name));
      Visitor::VisitStmt(s);
    }
  } finder(module);
  finder.VisitBlock(f.body);
  return finder.found;
}

TEST(IrDifferential, LoweringKeepsEveryBitWhereThereIsNoMath) {
  const IRModule module = Batch(100000, "lowered"), lowered = Lower(module);
  const Runner want = Interpreted(module), got = Interpreted(lowered);
  std::set<std::string> math;  // functions that use it, or call one that does
  int compared = 0;
  for (const PrimFunc& f : module.functions) {
    bool uses = HasMath(f->body);
    for (const FuncNode* callee : CollectCallees(*f, module)) uses = uses || math.count(callee->name) != 0;
    if (uses) math.insert(f->name);
    if (f->is_private || uses) continue;
    ++compared;
    EXPECT_EQ(Difference(*f, want, got), "") << Print(*f);
  }
  EXPECT_GT(compared, 20);
}

TEST(IrDifferential, SplittingVectorsKeepsEveryBit) {
  const IRModule module = Batch(200000, "split"), lowered = Lower(module);
  const Runner want = Interpreted(lowered), got = Interpreted(SplitLocals(SplitVectors(lowered, 8)));
  for (const PrimFunc& f : module.functions) {
    if (!f->is_private) {
      EXPECT_EQ(Difference(*f, want, got), "") << Print(*f);
    }
  }
}

// A column that is wrong on purpose: what it multiplies, it adds.
struct WrongProduct : Mutator {
  Expr MutateExpr(const Expr& e) override {
    const Expr made = Mutator::MutateExpr(e);
    return made->op == Op::kMul && made->type == kI32 ? made->args[0] + made->args[1] : made;
  }
};

TEST(IrDifferential, AFailureShrinksToWhatIsWrong) {
  const IRModule module = Parse(R"(func f(x: i32[N], y: f32[N]) -> (o: i32[N], p: f32[N]) {
    parallel i in 0..N {
      alloc s: i32[8] local
      for k in 0..8 { s[k] = i32(k) - x[i] }
      let a = reduce(max, j in 0..8, any 4, s[j]) + x[i] * x[i]
      if a > 3i32 { p[i] = exp(y[i]) } else { p[i] = y[i] }
      o[i] = select(a < 100i32, a, -a)
    }
  })");
  const auto wrong = [](const IRModule& m) {
    IRModule changed = m;
    changed.functions[0] = WithBody(*m.functions[0], WrongProduct().MutateBlock(m.functions[0]->body));
    return changed;
  };
  const auto fails = [&](const IRModule& m) {
    const Runner want = Interpreted(m), got = Interpreted(wrong(m));
    return !Difference(*m.functions[0], want, got).value_or("").empty();
  };
  ASSERT_TRUE(fails(module));
  const std::string small = Print(Shrink(module, fails, 1000));
  EXPECT_NE(small.find("i32 * "), std::string::npos) << small;
  for (const char* gone : {"exp", "reduce", "select", "if "}) EXPECT_EQ(small.find(gone), std::string::npos) << small;
  EXPECT_LT(std::count(small.begin(), small.end(), '\n'), 12) << small;
}

}  // namespace
}  // namespace ir_test
