// Each primitive gives the result of the program without it.
#include "schedule/support.h"

namespace schedule_test {
namespace {

using Apply = std::function<void(Schedule*)>;

// Without and with the primitives, for several sizes; and again from the trace.
void ExpectSame(const StageProgram& program, const std::vector<std::vector<int64_t>>& sizes, const Apply& apply) {
  const PrimFunc plain = Schedule(program).Lower();
  Schedule s(program);
  apply(&s);
  const PrimFunc scheduled = s.Lower();
  EXPECT_FALSE(Equal(*plain, *scheduled));
  const IRModule module{"m", "", {scheduled}};
  EXPECT_TRUE(Equal(Parse(Print(module)), module)) << Print(module);
  Schedule again(program);
  again.Replay(s.Trace());
  EXPECT_TRUE(Equal(*again.Lower(), *scheduled)) << s.Trace();
  for (const std::vector<int64_t>& dims : sizes) {
    EXPECT_EQ(GetResults(plain, dims), GetResults(scheduled, dims)) << s.Trace() << Print(*scheduled);
  }
}

const std::vector<std::vector<int64_t>> kSizes = {{4, 16}, {5, 7}, {1, 1}, {0, 3}, {3, 0}, {9, 33}};
const std::vector<std::vector<int64_t>> kMatmulSizes = {{4, 4, 8}, {5, 3, 7}, {1, 1, 1},
                                                        {0, 3, 2}, {3, 0, 2}, {13, 9, 5}};

TEST(Schedule, SplitsVectorizesAndRunsRowsInParallel) {
  ExpectSame(Elementwise(), kSizes, [](Schedule* s) {
    const auto [outer, inner] = s->Split("o", "j", 16);
    s->Vectorize("o", inner, 8);
    s->Parallel("o", "i", 2);
    EXPECT_EQ(s->Trace(), "split(o, j, 16, peeled)\nvectorize(o, j_i, 8, peeled)\nparallel(o, i, 2)\n");
  });
}

TEST(Schedule, MasksTails) {
  ExpectSame(Elementwise(), kSizes, [](Schedule* s) {
    s->Split("o", "i", 4, Tail::kMasked);
    s->Split("o", "j", 3, Tail::kMasked);
    s->Reorder("o", {"j_i", "i_o", "j_o", "i_i"});
    s->Unroll("o", "j_i");
  });
}

TEST(Schedule, FusesAxes) {
  ExpectSame(Elementwise(), kSizes, [](Schedule* s) { s->Split("o", s->Fuse("o", "i", "j"), 8); });
}

TEST(Schedule, ReordersReductionsOutward) {
  ExpectSame(Matmul(), kMatmulSizes, [](Schedule* s) {
    s->Reorder("o", {"k", "j"});
    s->Vectorize("o", "j", 4, Tail::kMasked);
  });
}

TEST(Schedule, SplitsReductionsThatAreSequential) {
  ExpectSame(Matmul(), kMatmulSizes, [](Schedule* s) {
    s->Split("o", "k", 4);
    s->Reorder("o", {"k_o", "i", "k_i", "j"});
  });
}

TEST(Schedule, JoinsIntegersInAnyOrder) {
  ExpectSame(Matmul(8, kI32), kMatmulSizes, [](Schedule* s) {
    s->Split("o", "k", 4);
    s->Reorder("o", {"k_i", "k_o", "i"});
  });
}

TEST(Schedule, ComputesRowsOfSoftmaxTogether) {
  ExpectSame(Softmax(), kSizes, [](Schedule* s) {
    for (const char* stage : {"s", "e", "m"}) s->ComputeAt(stage, "o", "i");
    s->Parallel("o", "i");
    s->Vectorize("o", "j", 8, Tail::kMasked);
    s->Vectorize("e", "j", 8, Tail::kMasked);
  });
}

TEST(Schedule, ComputesWhatATileOfAStencilNeeds) {
  ExpectSame(Stencil(), {{16}, {7}, {1}, {0}, {33}}, [](Schedule* s) {
    s->Split("o", "i", 8);
    s->ComputeAt("t", "o", "i_o");
  });
}

TEST(Schedule, KeepsTilesOfMatmulLocalAndPacksItsOperands) {
  ExpectSame(Matmul(), kMatmulSizes, [](Schedule* s) {
    EXPECT_EQ(s->CacheWrite("o"), "o_local");
    EXPECT_EQ(s->Pack("b", "o_local", 1, 8), "b_pack");
    EXPECT_EQ(s->Pack("a", "o_local", 0, 4), "a_pack");
    s->Split("o", "i", 4);
    s->Split("o", "j", 8);
    s->Reorder("o", {"j_o", "i_o", "i_i", "j_i"});
    s->ComputeAt("o_local", "o", "i_o");
    s->Reorder("o_local", {"k", "i", "j"});
    s->Unroll("o_local", "i");
    s->Vectorize("o_local", "j", 8);
    s->Parallel("o", "j_o");
  });
}

TEST(Schedule, TestsNoElementOfWholeTilesThatAreOneParallelLoop) {
  ExpectSame(Matmul(), kMatmulSizes, [](Schedule* s) {
    s->CacheWrite("o");
    s->Pack("b", "o_local", 1, 8);
    s->Split("o", "i", 4, Tail::kMasked);
    s->Split("o", "j", 8);
    s->Reorder("o", {"j_o", "i_o", "i_i", "j_i"});
    EXPECT_EQ(s->Fuse("o", "j_o", "i_o"), "j_o_i_o");
    s->ComputeAt("o_local", "o", "j_o_i_o");
    s->Vectorize("o", "j_i", 8);
    s->Parallel("o", "j_o_i_o");
    const std::string text = Print(*s->Lower());
    EXPECT_NE(text.find("if (j_o + 1) * 8 <= "), std::string::npos) << text;
  });
}

TEST(Schedule, ReadsThroughACache) {
  ExpectSame(Matmul(), kMatmulSizes, [](Schedule* s) {
    EXPECT_EQ(s->CacheRead("b", "o"), "b_cache");
    s->ComputeAt("b_cache", "o", "j");
  });
}

TEST(Schedule, LaunchesTilesWithSharedMemory) {
  ExpectSame(Matmul(), {{4, 4, 8}, {5, 3, 7}, {0, 3, 2}, {9, 9, 5}}, [](Schedule* s) {
    s->CacheWrite("o");
    s->CacheRead("b", "o_local");
    s->Split("o", "i", 4);
    s->Split("o", "j", 4);
    s->Reorder("o", {"i_o", "j_o", "i_i", "j_i"});
    s->Bind("o", "i_o", "block.y");
    s->Bind("o", "j_o", "block.x");
    s->Bind("o", "i_i", "thread.y");
    s->Bind("o", "j_i", "thread.x");
    s->ComputeAt("o_local", "o", "j_i");
    s->Split("o_local", "k", 4);
    s->Reorder("o_local", {"k_o", "i", "j", "k_i"});
    s->ComputeAt("b_cache", "o_local", "k_o");
    s->Bind("b_cache", "a0", "thread.y");
    s->Bind("b_cache", "a1", "thread.x");
  });
}

}  // namespace
}  // namespace schedule_test
