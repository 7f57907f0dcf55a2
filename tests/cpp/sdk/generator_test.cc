// Values of the SDK as ABI objects, and generators in the host's registry.
#include <kernpack/host/host.h>
#include <kernpack/sdk/codegen/generator.h>
#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/text.h>
#include <kernpack/sdk/object.h>

#include <gtest/gtest.h>

#include <stdexcept>

#include "ir/support.h"

namespace kernpack::sdk {
namespace {

using ir_test::CatchMessage;

constexpr const char* kText = "func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { o[i] = x[i] } }";

std::string TextIn(const Any& object) {
  const KpBytes text = reinterpret_cast<const KpStrObject*>(object.raw().v.v_obj)->bytes;
  return std::string(text.data, text.size);
}

TEST(SdkObject, HasATypeOfItsOwnAndTheTextAsItsBody) {
  const ir::IRModule module = ir::Parse(kText);
  const Any object = ToAny(module);
  EXPECT_STREQ(kp_type_name(object.type_index()), "kernpack.ir.IRModule");
  EXPECT_EQ(TextIn(object), ir::Print(module));
  EXPECT_TRUE(ir::Equal(ToIRModule(object, "module"), module));
  EXPECT_TRUE(ir::Equal(*ToPrimFunc(ToAny(module.functions[0]), "function"), *module.functions[0]));
  EXPECT_STREQ(kp_type_name(ToAny(module.functions[0]).type_index()), "kernpack.ir.PrimFunc");
}

TEST(SdkObject, TargetsAndVirtualDevicesComeBackEqual) {
  const Target target("cuda -arch=sm_90 -host='llvm -mcpu=x86-64-v3'");
  EXPECT_EQ(TextIn(ToAny(target)), target.str());
  EXPECT_EQ(ToTarget(ToAny(target), "target"), target);
  EXPECT_EQ(ToTarget(AnyView("llvm"), "target"), Target("llvm")) << "text does as well";
  const VirtualDevice device({std::nullopt, 3, target, "global"});
  EXPECT_EQ(ToVirtualDevice(ToAny(device), "device"), device);
  EXPECT_EQ(TextIn(ToAny(VirtualDevice())), "{}");
}

TEST(SdkObject, IsReleasedWithItsLastReference) {
  Any object = ToAny(Target("llvm"));
  KpObject* header = object.raw().v.v_obj;
  EXPECT_EQ(header->counts, 1 | uint64_t{1} << 32);
  const Any second = object;
  EXPECT_EQ(header->counts, 2 | uint64_t{1} << 32);
  object = Any();
  EXPECT_EQ(TextIn(second), "llvm");
}

TEST(SdkObject, RefusesOtherValues) {
  EXPECT_EQ(CatchMessage([] { ToTarget(AnyView(3), "target"); }),
            "TypeError: target: expected a kernpack.Target or its text, got int");
  EXPECT_EQ(CatchMessage([] { ToIRModule(ToAny(Target("llvm")), "module"); }),
            "TypeError: module: expected a kernpack.ir.IRModule or its text, got object");
  EXPECT_EQ(CatchMessage([] { ToPrimFunc(AnyView(""), "function"); }),
            "ValueError: function: expected the text of one function, got 0");
  EXPECT_EQ(CatchMessage([] { ToVirtualDevice(AnyView(R"({"virtual_device_id": "a"})"), "device"); }),
            "TypeError: device: virtual_device_id: expected int, got str");
}

TEST(Generators, AreCalledByKindWithAVerifiedModule) {
  static const KpModule table = {};
  std::string seen;
  RegisterGenerator("test", {[&](const ir::IRModule& module, const Target& target) {
                               seen = target.str() + " " + module.functions.front()->name;
                               return Generated{&table, {}};
                             },
                             {},
                             [](const ir::IRModule&, const Target&) { return std::string("the code"); }});
  EXPECT_EQ(Build(ir::Parse(kText), Target("test")).table, &table);
  EXPECT_EQ(seen, "test f");
  EXPECT_EQ(Source(ir::Parse(kText), Target("test")), "the code");
  EXPECT_EQ(CatchMessage([] { Export(ir::Parse(kText), Target("test"), "k.so"); }),
            "RuntimeError: build: the generator of target kind 'test' has no target.export.test");
  EXPECT_EQ(CatchMessage([] { Build(ir::Parse("func f() -> () { barrier }"), Target("test")); }),
            "ValueError: line 1, column 18: f: barrier outside a launch");
  EXPECT_NE(CatchMessage([] { RegisterGenerator("test", {}); }).find("'target.build.test'"), std::string::npos);
  ASSERT_EQ(kp_global_remove(kp_bytes("target.build.test")), 0);
  ASSERT_EQ(kp_global_remove(kp_bytes("target.source.test")), 0);
}

// The text form doesn't say in which file a function was written.
ir::IRModule WrittenInAFile() {
  ir::IRModule module = ir::Parse(kText);
  ir::FuncNode f = *module.functions.front();
  f.file = "kernels.py";
  module.functions.front() = std::make_shared<const ir::FuncNode>(std::move(f));
  return module;
}

TEST(Generators, OfThisSdkAreGivenTheModuleItself) {
  static const KpModule table = {};
  std::string seen;
  const auto see = [&](const ir::IRModule& module) { seen += module.functions.front()->file + ";"; };
  RegisterGenerator("test", {[&](const ir::IRModule& module, const Target&) {
                               see(module);
                               return Generated{&table, {}};
                             },
                             [&](const ir::IRModule& module, const Target&, const std::string& path) {
                               see(module);
                               seen += path;
                             },
                             [&](const ir::IRModule& module, const Target&) {
                               see(module);
                               return std::string("the code");
                             }});
  EXPECT_EQ(Build(WrittenInAFile(), Target("test")).table, &table);
  EXPECT_EQ(Source(WrittenInAFile(), Target("test")), "the code");
  Export(WrittenInAFile(), Target("test"), "k.so");
  EXPECT_EQ(seen, "kernels.py;kernels.py;kernels.py;k.so");
  for (const char* name : {"target.build.test", "target.export.test", "target.source.test"}) {
    ASSERT_EQ(kp_global_remove(kp_bytes(name)), 0);
  }
}

TEST(Generators, OfThisSdkRaiseAsOthersDo) {
  RegisterGenerator("test",
                    {[](const ir::IRModule&, const Target&) -> Generated { throw std::out_of_range("no room"); },
                     {},
                     [](const ir::IRModule&, const Target&) -> std::string { KP_THROW(KeyError) << "no such"; }});
  EXPECT_EQ(CatchMessage([] { Build(ir::Parse(kText), Target("test")); }), "IndexError: target.build.test: no room");
  EXPECT_EQ(CatchMessage([] { Source(ir::Parse(kText), Target("test")); }), "KeyError: no such");
  ASSERT_EQ(kp_global_remove(kp_bytes("target.build.test")), 0);
  ASSERT_EQ(kp_global_remove(kp_bytes("target.source.test")), 0);
}

// As another binary would register it, in C.
int BuildFromText(void* self, const KpAny* args, int32_t n, KpAny* result) {
  EXPECT_EQ(n, 2);
  const auto text_of = [](const KpAny& value) {
    const KpBytes text = reinterpret_cast<const KpStrObject*>(value.v.v_obj)->bytes;
    return std::string(text.data, text.size);
  };
  EXPECT_STREQ(kp_type_name(args[0].type_index), "kernpack.ir.IRModule");
  EXPECT_TRUE(ir::Equal(ir::Parse(text_of(args[0])), ir::Parse(kText)));
  EXPECT_EQ(text_of(args[1]), "test");
  *result = Any(static_cast<void*>(self)).release();
  return 0;
}

TEST(Generators, OfOthersAreGivenText) {
  static KpFunctionObject function{
      {1 | uint64_t{1} << 32, KP_TYPE_FUNCTION, 0, [](void*, int) {}}, BuildFromText, nullptr};
  ASSERT_EQ(kp_host()->global_set(kp_host(), kp_bytes("target.build.test"), &function.header, 0), 0);
  EXPECT_EQ(static_cast<const void*>(Build(ir::Parse(kText), Target("test")).table), &function);
  ASSERT_EQ(kp_global_remove(kp_bytes("target.build.test")), 0);
}

TEST(Generators, AMissingOneIsExplained) {
  ExplainMissingGenerator("test", "it is for tests");
  const std::string message = CatchMessage([] { Build(ir::Parse(kText), Target("composite")); });
  EXPECT_EQ(message.find("RuntimeError: build: target kind 'composite' has no code generator; enabled: "), 0u)
      << message;
  EXPECT_NE(message.find("; composite: each of its parts is built by itself"), std::string::npos) << message;
  EXPECT_NE(message.find("; test: it is for tests"), std::string::npos) << message;
  EXPECT_EQ(CatchMessage([] { Build(ir::Parse(kText)); }),
            "ValueError: build: module 'module' names no target; pass one");
}

}  // namespace
}  // namespace kernpack::sdk
