// The parts of a contract that bindings read: parameters, results, defaults, JSON.
#include <cmath>

#include <nlohmann/json.hpp>

#include "fixture.h"

namespace {

nlohmann::json Json(const char* text) {
  const KpSignature* signature = nullptr;
  EXPECT_EQ(kp_signature_parse(kp_bytes(text), nullptr, &signature), 0);
  KpAny out = kp_none();
  EXPECT_EQ(kp_signature_json(signature, &out), 0);
  KpBytes bytes{};
  kp_any_str(&out, &bytes);
  auto json = nlohmann::json::parse(std::string(bytes.data, bytes.size));
  kp_any_release(&out);
  return json;
}

TEST(Describe, ParametersAreGivenInOrder) {
  Call call(
      "f(x!: f32[N], l: list[int] = [1, -2], *, e: float = -inf, s: str? = None, m: str = 'hello world') -> (y: f32[N] "
      "sum)");
  EXPECT_EQ(kp_sig_num_params(call.program), 5);
  EXPECT_EQ(kp_sig_num_positional(call.program), 2);
  EXPECT_EQ(kp_sig_num_results(call.program), 1);
  KpSigParam p{};
  ASSERT_EQ(kp_sig_param(call.program, 0, &p), 0);
  EXPECT_STREQ(p.name, "x");
  EXPECT_EQ(p.flags, static_cast<uint32_t>(KP_PARAM_MUTATED));
  ASSERT_EQ(kp_sig_param(call.program, 1, &p), 0);
  ASSERT_EQ(p.list_default_size, 2);
  EXPECT_EQ(p.list_default_items[1].v.v_int, -2);
  ASSERT_EQ(kp_sig_param(call.program, 2, &p), 0);
  EXPECT_TRUE(std::isinf(p.default_value.v.v_float) && p.default_value.v.v_float < 0);
  EXPECT_TRUE(p.flags & KP_PARAM_KEYWORD_ONLY);
  ASSERT_EQ(kp_sig_param(call.program, 3, &p), 0);
  EXPECT_EQ(p.default_value.type_index, KP_TYPE_NONE);
  EXPECT_TRUE(p.flags & KP_PARAM_HAS_DEFAULT);
  ASSERT_EQ(kp_sig_param(call.program, 4, &p), 0);
  EXPECT_STREQ(p.default_value.v.v_c_str, "hello world");
  KpSigResult r{};
  ASSERT_EQ(kp_sig_result(call.program, 0, &r), 0);
  EXPECT_EQ(r.flags, static_cast<uint32_t>(KP_RESULT_SUM));
  EXPECT_NE(kp_sig_param(call.program, 5, &p), 0);
  EXPECT_EQ(TakeError(), "IndexError: kp_sig_param: expected an index below 5, got 5");
  EXPECT_NE(kp_sig_result(call.program, -1, &r), 0);
  EXPECT_EQ(TakeError(), "IndexError: kp_sig_result: expected an index below 1, got -1");
}

TEST(Describe, JsonSaysAllOfASignature) {
  const auto json = Json(
      "f(x: T[..., D], b: T[~..., D]? = None, *, k: int = 2, m: str in {'a', 'b'} = 'a', e: float = nan) -> "
      "(y: T[..., (D - 1) * k, D - (1 - k), -D // 2 + 12345678901] aux, z: real(T)[]) "
      "where T in {f32, c64}, 0<min(k,D) <= ceildiv(D, 2) with quick, workspace = numel( x ), on 'cpu', nondiff(b)");
  EXPECT_EQ(json["name"], "f");
  EXPECT_EQ(json["params"][0]["batch"], "...");
  EXPECT_EQ(json["params"][1]["optional"], true);
  EXPECT_EQ(json["params"][2]["default"], 2);
  EXPECT_EQ(json["params"][3]["choices"], (nlohmann::json{"a", "b"}));
  EXPECT_EQ(json["params"][4]["default"], "nan");
  EXPECT_EQ(json["results"][0]["shape"], (nlohmann::json{"(D - 1) * k", "D - (1 - k)", "-D // 2 + 12345678901"}));
  EXPECT_EQ(json["results"][0]["aux"], true);
  EXPECT_EQ(json["results"][1]["dtype"], (nlohmann::json{{"real", "T"}}));
  EXPECT_EQ(json["dtype_vars"]["T"], (nlohmann::json{"f32", "c64"}));
  EXPECT_EQ(json["params"][0]["shape_text"], "[..., D]");
  EXPECT_EQ(json["where"][0], "0 < min(k, D) <= ceildiv(D, 2)");
  EXPECT_EQ(json["where_text"][0], "0<min(k,D) <= ceildiv(D, 2)");
  EXPECT_EQ(json["props"]["on"], "cpu");
  EXPECT_EQ(json["workspace"], "numel(x)");
  EXPECT_EQ(json["workspace_text"], "numel( x )");
  EXPECT_EQ(json["props"]["invariant"], nlohmann::json::array());
}

TEST(Describe, JsonNamesInvariantDimsInTheirOrder) {
  const auto invariant = [](const std::string& dims) {
    const std::string text = "f(x: f32[..., M], y: f32[N, M]) -> (z: f32[..., N]) with invariant(" + dims + ")";
    return Json(text.c_str())["props"]["invariant"];
  };
  EXPECT_EQ(invariant("N, M, batch"), (nlohmann::json{"...", "M", "N"}));
  EXPECT_EQ(invariant("batch"), (nlohmann::json{"..."}));
  EXPECT_EQ(invariant("N"), (nlohmann::json{"N"}));
}

}  // namespace
