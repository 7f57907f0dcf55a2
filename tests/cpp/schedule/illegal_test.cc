// Illegal schedules, and their errors.
#include "schedule/support.h"

namespace schedule_test {
namespace {

struct Illegal {
  const char* program;
  const char* trace;  // its last line is refused
  const char* message;
};
void PrintTo(const Illegal& illegal, std::ostream* out) { *out << illegal.trace; }

StageProgram Named(const std::string& name) {
  if (name == "elementwise") return Elementwise();
  if (name == "softmax") return Softmax();
  if (name == "stencil") return Stencil();
  return Matmul(name == "matmul any" ? 8 : 0);
}

class ScheduleRefuses : public testing::TestWithParam<Illegal> {};

TEST_P(ScheduleRefuses, AndSaysWhy) {
  const std::string trace = GetParam().trace;
  const size_t last = trace.rfind('\n') == std::string::npos ? 0 : trace.rfind('\n') + 1;
  Schedule s(Named(GetParam().program));
  s.Replay(trace.substr(0, last));
  const std::string before = s.Trace();
  const PrimFunc lowered = s.Lower();
  EXPECT_EQ(CatchMessage([&] { s.Replay(trace.substr(last)); }),
            std::string("ValueError: line 1: ") + GetParam().message);
  EXPECT_EQ(s.Trace(), before) << "the schedule is as it was";
  EXPECT_TRUE(Equal(*s.Lower(), *lowered));
}

INSTANTIATE_TEST_SUITE_P(
    Words, ScheduleRefuses,
    testing::Values(
        Illegal{"elementwise", "tile(o, i)",
                "there is no primitive 'tile'; there are split, fuse, reorder, parallel, vectorize, unroll, bind, "
                "compute_at, cache_read, cache_write, pack"},
        Illegal{"elementwise", "split o i 4", "expected primitive(argument, ...), got 'split o i 4'"},
        Illegal{"elementwise", "split(o, i)",
                "split: expected (stage, axis, factor, peeled or masked), got 2 arguments"},
        Illegal{"elementwise", "split(p, i, 4)", "split: there is no stage 'p'; stages are o"},
        Illegal{"elementwise", "split(o, k, 4)", "split: stage 'o' has no axis 'k'; its axes are i, j"},
        Illegal{"elementwise", "split(o, i, 4)\nsplit(o, i, 2)",
                "split: stage 'o' has no axis 'i' any more: it was split or fused; its axes are i_o, i_i, j"},
        Illegal{"elementwise", "split(o, i, four)",
                "split: stage 'o', axis 'i': factor: expected an integer, got 'four'"},
        Illegal{"elementwise", "split(o, i, 0)", "split: stage 'o', axis 'i': expected a factor from 1, got 0"},
        Illegal{"elementwise", "split(o, i, 4, clipped)",
                "split: stage 'o', axis 'i': expected the tail to be peeled or masked, got 'clipped'"},
        Illegal{"elementwise", "bind(o, i, warp.x)",
                "bind: stage 'o', axis 'i': expected block.x, block.y, block.z, thread.x, thread.y or thread.z, got "
                "'warp.x'"}));

INSTANTIATE_TEST_SUITE_P(
    AxisKinds, ScheduleRefuses,
    testing::Values(
        Illegal{"matmul", "parallel(o, k)",
                "parallel: stage 'o', axis 'k': it is a reduction axis, whose iterations all change the same element; "
                "make a spatial axis parallel"},
        Illegal{"matmul", "bind(o, k, thread.x)",
                "bind: stage 'o', axis 'k': it is a reduction axis, whose iterations all change the same element; bind "
                "spatial axes"},
        Illegal{"matmul", "vectorize(o, k, 8)",
                "vectorize: stage 'o', axis 'k': it is a reduction axis, and the order sequential forbids partial "
                "results; declare the order any"},
        Illegal{"matmul any", "vectorize(o, k, 16)",
                "vectorize: stage 'o', axis 'k': the order any 8 has 8 partial results; vectorize by 8"},
        Illegal{"matmul", "fuse(o, j, k)",
                "fuse: stage 'o', axis 'j': one of 'j' and 'k' is a spatial axis, the other a reduction axis; only "
                "axes of one kind are fused"},
        Illegal{"matmul", "fuse(o, i, k)",
                "fuse: stage 'o', axis 'i': 'k' is not the next loop inside it; reorder first"}));

INSTANTIATE_TEST_SUITE_P(
    Order, ScheduleRefuses,
    testing::Values(
        Illegal{"matmul", "split(o, k, 4)\nreorder(o, k_i, k_o)",
                "reorder: stage 'o', axis 'k_i': moving it before 'k_o' changes the order in which floats are joined, "
                "which is sequential; keep reduction axes in their order"},
        Illegal{"matmul any", "split(o, k, 4)",
                "split: stage 'o', axis 'k': order any 8 says which partial result each element goes to, so the "
                "reduction stays whole and innermost; declare the order sequential to have loops of it"},
        Illegal{"matmul any", "reorder(o, k, j)",
                "reorder: stage 'o', axis 'k': order any 8 says which partial result each element goes to, so the "
                "reduction stays whole and innermost; declare the order sequential to have loops of it"},
        Illegal{"softmax", "compute_at(e, s, k)", "compute_at: stage 's' has no axis 'k'; its axes are i, j"},
        Illegal{"softmax", "compute_at(e, s, j)",
                "compute_at: stage 'e' at axis 'j' of stage 's': order any 8 keeps that reduction whole; choose a "
                "spatial axis, or declare the order sequential"}));

INSTANTIATE_TEST_SUITE_P(
    Loops, ScheduleRefuses,
    testing::Values(
        Illegal{"matmul", "vectorize(o, j, 8)",
                "vectorize: stage 'o', axis 'j': reduction axis 'k' runs inside it, and only the innermost loop is "
                "vectorized; reorder first"},
        Illegal{"elementwise", "vectorize(o, j, 6)",
                "vectorize: stage 'o', axis 'j': expected 2, 4, ... or 64 lanes, got 6"},
        Illegal{"elementwise", "vectorize(o, j, 8)\nreorder(o, j, i)",
                "reorder: stage 'o', axis 'j': it is vectorized and must stay innermost"},
        Illegal{"elementwise", "parallel(o, i)\nsplit(o, i, 4)",
                "split: stage 'o', axis 'i': its loop is parallel already; do this before"},
        Illegal{"elementwise", "parallel(o, i)\nunroll(o, i)",
                "unroll: stage 'o', axis 'i': its loop is parallel already"},
        Illegal{"elementwise", "parallel(o, i)\nparallel(o, j)",
                "parallel: stage 'o', axis 'j': axis 'i' of stage 'o' is parallel already; fuse the two, or leave one "
                "serial"},
        Illegal{"elementwise", "unroll(o, j)",
                "unroll: stage 'o', axis 'j': its extent is not constant; split it and unroll the inner axis"},
        Illegal{"elementwise", "split(o, j, 128)\nunroll(o, j_i)",
                "unroll: stage 'o', axis 'j_i': it has 128 iterations, more than 64; split it and unroll the inner "
                "axis"},
        Illegal{"elementwise", "bind(o, i, thread.x)",
                "bind: stage 'o', axis 'i': threads of a block need a constant extent; split it and bind the inner "
                "axis"},
        Illegal{"elementwise", "bind(o, i, block.x)\nparallel(o, j)",
                "parallel: stage 'o', axis 'j': the stage is bound to a launch; bind the axis instead"},
        Illegal{"elementwise", "bind(o, i, block.x)\nbind(o, j, block.x)",
                "bind: stage 'o', axis 'j': axis 'i' is bound to block.x already"}));

INSTANTIATE_TEST_SUITE_P(
    Stages, ScheduleRefuses,
    testing::Values(
        Illegal{"softmax", "compute_at(o, o, i)", "compute_at: stage 'o' encloses 'o' or is the same"},
        Illegal{"softmax", "compute_at(m, o, i)",
                "compute_at: stage 'm' at axis 'i' of stage 'o': stage 'e' reads it too, outside that loop; compute "
                "that stage there first"},
        Illegal{"softmax", "compute_at(o, e, i)",
                "compute_at: stage 'o' at axis 'i' of stage 'e': it is a result of the function, and must be computed "
                "whole"},
        Illegal{"stencil", "vectorize(o, i, 8)\ncompute_at(t, o, i)",
                "compute_at: stage 't' at axis 'i' of stage 'o': that loop is vectorized"},
        Illegal{"stencil", "parallel(t, i)\ncompute_at(t, o, i)",
                "compute_at: stage 't': axis 'i' is parallel, which cannot be inside another stage"},
        Illegal{"stencil", "cache_read(o, t)", "cache_read: stage 't' does not read 'o'; it reads x"},
        Illegal{"matmul", "split(o, i, 4)\ncache_write(o)",
                "cache_write: stage 'o' is scheduled already; do this first"},
        Illegal{"matmul", "pack(a, o, 2, 8)", "pack: 'a' has 2 dimensions, got dimension 2"},
        Illegal{"matmul", "pack(a, o, 0, 0)", "pack: expected a factor from 1, got 0"}));

TEST(Schedule, SaysWhatALoweringForbids) {
  Schedule s(Elementwise());
  s.Bind("o", "j", "block.x");
  EXPECT_EQ(CatchMessage([&] { s.Lower(); }),
            "ValueError: bind: stage 'o', axis 'j': loop 'i' runs outside it; bound axes come first, reorder them");
}

TEST(StageBuilder, RefusesWhatIsNoProgram) {
  StageBuilder p("f");
  const Expr n = p.Dim("N");
  const Buffer x = p.Input("x", kF32, {n});
  EXPECT_EQ(CatchMessage([&] { p.Finish(); }), "ValueError: f: no stage is a result");
  EXPECT_EQ(CatchMessage([&] { p.Result(x); }), "ValueError: result: expected a stage of this program");
  EXPECT_EQ(CatchMessage([&] { p.Compute("x", {n}, [&](auto i) { return Load(x, i); }); }),
            "ValueError: x: there is an input of this name already");
  EXPECT_EQ(CatchMessage([&] { p.Reduce("s", Op::kAdd, 8, {n}, {}, [&](auto i, auto) { return Load(x, i); }); }),
            "ValueError: s: a reduction needs a reduction axis");
  EXPECT_EQ(CatchMessage([&] { p.Reduce("s", Op::kAdd, 6, {}, {n}, [&](auto, auto r) { return Load(x, r); }); }),
            "ValueError: reduce: expected order sequential, or any with 2, 4, ... or 64 lanes, got any(6)");
  EXPECT_EQ(CatchMessage([&] { p.Compute("s", {n, n}, [&](auto i) { return Load(x, {i[0]}); }, {"a", "a"}); }),
            "ValueError: s: two axes are called 'a'");
}

TEST(StageBuilder, RefusesVariablesWithoutAValue) {
  StageBuilder p("f");
  const Expr n = p.Dim("N"), m = p.Dim("M");
  const Buffer x = p.Input("x", kF32, {n * m});
  p.Result(p.Compute("o", {n}, [&](auto i) { return Load(x, i); }));
  EXPECT_EQ(CatchMessage([&] { p.Finish(); }),
            "ValueError: f: stage 'o' uses 'N', which has no value; give an input that extent alone, or make it a "
            "scalar");
}

}  // namespace
}  // namespace schedule_test
