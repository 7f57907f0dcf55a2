// Checking calls: every rule, with its error text.
#include "fixture.h"

namespace {

TEST(Check, BindsDimsAndDTypes) {
  Call call("(x: T[..., D], weight: T[D], *, eps: float = 1e-6) -> (out: T[..., D]) where T in {f32, f16, bf16}");
  call.Tensor({2, 3, 512}).Tensor({512}).Float(1e-5);
  ASSERT_EQ(call.Check("rms_norm"), "");
  EXPECT_EQ(call.frame.dims[0], 512);
  EXPECT_EQ(call.frame.batch_ndim, 2);
  EXPECT_EQ(call.ResultShape(0), (std::vector<int64_t>{2, 3, 512}));
}

TEST(Check, NamesTheDimAndItsBinder) {
  Call call("(x: T[..., D], weight: T[D]) -> (out: T[..., D]) where T in {f32, f16, bf16}");
  call.Tensor({4, 512}).Tensor({256});
  EXPECT_EQ(call.Check("rms_norm"),
            "ValueError: rms_norm: weight: expected shape [D] with D = 512 (bound by x), got [256]");
}

}  // namespace
