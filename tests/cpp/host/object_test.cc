// Strings, bytes, shapes, arrays, functions, opaque handles, and owning borrowed values.
#include "support.h"

namespace kernpack_test {
namespace {

class ObjectTest : public HostTest {};

TEST_F(ObjectTest, StringsUpToSevenBytesLiveInTheValue) {
  for (size_t size = 0; size < 20; ++size) {
    const std::string text(size, 'a');
    Value value;
    ASSERT_EQ(kp_string_new(AsBytes(text), value.out()), 0);
    EXPECT_EQ(value->type_index, size <= 7 ? KP_TYPE_SMALL_STR : KP_TYPE_STR);
    EXPECT_EQ(Str(value.get()), text);
  }
}

TEST_F(ObjectTest, UnusedBytesOfASmallStringAreZero) {
  Value value;
  ASSERT_EQ(kp_string_new(kp_bytes("ab"), value.out()), 0);
  EXPECT_EQ(value->v.v_bits, uint64_t{'a'} | uint64_t{'b'} << 8);
  EXPECT_EQ(value->small_len, 2u);
}

TEST_F(ObjectTest, LongStringsAreNulTerminatedAndMayHoldAnything) {
  std::string text = "\xe2\x82\xac gr\xc3\xbc\xc3\x9f";
  text += std::string("\0tail", 5) + std::string(10 << 20, 'x');
  Value value;
  ASSERT_EQ(kp_string_new(AsBytes(text), value.out()), 0);
  EXPECT_EQ(Str(value.get()), text);
  EXPECT_EQ(reinterpret_cast<KpStrObject*>(value.object())->bytes.data[text.size()], '\0');
}

TEST_F(ObjectTest, BytesAreATypeOfTheirOwn) {
  Value small;
  Value large;
  ASSERT_EQ(kp_bytes_new(kp_bytes("abc"), small.out()), 0);
  ASSERT_EQ(kp_bytes_new(kp_bytes("abcdefghij"), large.out()), 0);
  EXPECT_EQ(small->type_index, KP_TYPE_SMALL_BYTES);
  EXPECT_EQ(large->type_index, KP_TYPE_BYTES);
}

TEST_F(ObjectTest, NullTextWithASizeIsAnError) {
  KpAny out;
  EXPECT_EQ(kp_string_new(KpBytes{nullptr, 3}, &out), -1);
  EXPECT_EQ(TakeError(), "ValueError: kp_string_new: data is NULL but size is 3");
}

TEST_F(ObjectTest, ShapeHoldsACopy) {
  int64_t items[] = {2, 3, 5};
  Value value;
  ASSERT_EQ(kp_shape_new(items, 3, value.out()), 0);
  items[0] = 9;
  const auto* shape = reinterpret_cast<KpShapeObject*>(value.object());
  EXPECT_EQ(std::vector<int64_t>(shape->data, shape->data + shape->size), (std::vector<int64_t>{2, 3, 5}));
}

TEST_F(ObjectTest, SizesThatOverflowAreMemoryErrors) {
  const int64_t one = 1;
  KpAny out;
  EXPECT_EQ(kp_shape_new(&one, SIZE_MAX / 4, &out), -1);
  EXPECT_EQ(TakeError(), "MemoryError: kp_shape_new: out of memory");
  const KpAny item = Int(1);
  EXPECT_EQ(kp_array_new(&item, SIZE_MAX / 8, &out), -1);
  EXPECT_EQ(TakeError(), "MemoryError: kp_array_new: out of memory");
}

TEST_F(ObjectTest, ArrayRetainsItemsAndOwnsBorrowedText) {
  Value shape;
  ASSERT_EQ(kp_shape_new(nullptr, 0, shape.out()), 0);
  std::string text = "a string of some length";
  const KpAny items[] = {shape.get(), RawStr(text.c_str()), Int(7)};
  Value array;
  ASSERT_EQ(kp_array_new(items, 3, array.out()), 0);
  text = "overwritten............";
  const auto* sequence = reinterpret_cast<KpSequenceObject*>(array.object());
  ASSERT_EQ(sequence->size, 3);
  EXPECT_EQ(sequence->data[0].v.v_obj, shape.object());
  EXPECT_EQ(Str(sequence->data[1]), "a string of some length");
  EXPECT_EQ(sequence->data[2].v.v_int, 7);
  EXPECT_EQ(shape.object()->counts & 0xffffffff, 2u);
}

TEST_F(ObjectTest, AFailureHalfwayThroughAnArrayLeaksNothing) {
  Value shape;
  ASSERT_EQ(kp_shape_new(nullptr, 0, shape.out()), 0);
  KpDLTensor tensor{};
  KpAny borrowed = kp_none();
  borrowed.type_index = KP_TYPE_DLTENSOR_PTR;
  borrowed.v.v_tensor = &tensor;
  const KpAny items[] = {shape.get(), borrowed};
  KpAny out;
  EXPECT_EQ(kp_array_new(items, 2, &out), -1);
  EXPECT_NE(TakeError().find("TypeError: a borrowed tensor"), std::string::npos);
  EXPECT_EQ(shape.object()->counts & 0xffffffff, 1u);
}

TEST_F(ObjectTest, OwnMovesAnRvalueReferenceOut) {
  Value shape;
  ASSERT_EQ(kp_shape_new(nullptr, 0, shape.out()), 0);
  KpObject* source = shape.object();
  kp_retain(source);
  KpAny reference = kp_none();
  reference.type_index = KP_TYPE_RVALUE_REF;
  reference.v.v_ptr = &source;
  Value owned;
  ASSERT_EQ(kp_any_own(&reference, owned.out()), 0);
  EXPECT_EQ(owned.object(), shape.object());
  EXPECT_EQ(source, nullptr);
}

TEST_F(ObjectTest, OwnRefusesIndicesThatAreNotOfThisVersion) {
  for (int32_t index : {-1, 13, 63, 79, 127, 2000000000}) {
    KpAny odd = kp_none();
    odd.type_index = index;
    KpAny out;
    EXPECT_EQ(kp_any_own(&odd, &out), -1) << index;
    const std::string error = TakeError();
    EXPECT_EQ(error.find("TypeError: kp_any_own: expected a value of a type known here"), 0u) << error;
    EXPECT_NE(error.find("got type index " + std::to_string(index)), std::string::npos) << error;
  }
  KpAny null_object = kp_none();
  null_object.type_index = KP_TYPE_SHAPE;
  KpAny out;
  EXPECT_EQ(kp_any_own(&null_object, &out), -1);
  EXPECT_EQ(TakeError(),
            "ValueError: kp_any_own: a value of type Shape holds a NULL object; expected an object, or None");
}

TEST_F(ObjectTest, ValuesOfOthersAreLookedAtBeforeTheyAreRead) {
  KpAny value = kp_none();
  EXPECT_EQ(kp_any_validate(&value, "echo"), 0);
  value.type_index = KP_TYPE_SMALL_STR;
  value.small_len = 7;
  EXPECT_EQ(kp_any_validate(&value, "echo"), 0);
  value.small_len = 8;
  EXPECT_EQ(kp_any_validate(&value, "echo"), -1);
  EXPECT_EQ(TakeError(), "ValueError: echo: expected a short str of at most 7 bytes, got one of 8");
  Value shape;
  ASSERT_EQ(kp_shape_new(nullptr, 0, shape.out()), 0);
  value = kp_none();
  value.type_index = KP_TYPE_STR;
  value.v.v_obj = shape.object();
  EXPECT_EQ(kp_any_validate(&value, "echo"), -1);
  EXPECT_EQ(TakeError(),
            "TypeError: echo: a value says that it is a str (type index 65), its object has type index 69");
}

// Bodies that a reader would follow into nowhere.
TEST_F(ObjectTest, AnObjectWithADamagedBodyIsRefusedUnread) {
  const auto refusal = [](auto& body, int32_t type) {
    body.header = {1 | uint64_t{1} << 32, type, 0, nullptr};
    KpAny value = kp_none();
    value.type_index = type;
    value.v.v_obj = &body.header;
    return kp_any_validate(&value, "echo") == 0 ? std::string("taken") : TakeError();
  };
  const std::string text = "ValueError: echo: a value of type ";
  KpStrObject string{};
  EXPECT_EQ(refusal(string, KP_TYPE_STR), "taken");
  string.bytes.size = 5;
  EXPECT_EQ(refusal(string, KP_TYPE_STR), text + "str is damaged: it has a NULL string, or an invalid length");
  EXPECT_EQ(refusal(string, KP_TYPE_BYTES), text + "bytes is damaged: it has a NULL string, or an invalid length");
  string.bytes = {"abc", SIZE_MAX};
  EXPECT_NE(refusal(string, KP_TYPE_STR), "taken");
  KpShapeObject shape{};
  shape.size = 3;
  EXPECT_EQ(refusal(shape, KP_TYPE_SHAPE),
            text + "Shape is damaged: it has NULL extents, or an invalid number of them");
  KpSequenceObject sequence{};
  EXPECT_EQ(refusal(sequence, KP_TYPE_ARRAY), "taken");
  for (const int64_t size : {2, -2}) {
    sequence.size = size;
    EXPECT_EQ(refusal(sequence, KP_TYPE_LIST), text + "List is damaged: it has NULL items, or a negative count");
  }
  KpMapObject map{};
  map.size = 3;
  EXPECT_EQ(refusal(map, KP_TYPE_MAP), text + "Map is damaged: it has NULL items");
  KpFunctionObject function{};
  EXPECT_EQ(refusal(function, KP_TYPE_FUNCTION), text + "Function is damaged: it has no code to call");
  KpErrorObject error{};
  error.kind.size = 1;
  EXPECT_EQ(refusal(error, KP_TYPE_ERROR), text + "Error is damaged: it has a NULL string");
  KpOpaqueObject opaque{};
  EXPECT_EQ(refusal(opaque, KP_TYPE_OPAQUE_PY_OBJECT),
            text + std::string(kp_type_name(KP_TYPE_OPAQUE_PY_OBJECT)) + " is damaged: it has a NULL handle");
  KpTensorObject tensor{};
  tensor.tensor.device.device_type = KP_DEVICE_CPU;
  tensor.tensor.dtype = {KP_DTYPE_FLOAT, 32, 1};
  tensor.tensor.ndim = -3;
  EXPECT_EQ(refusal(tensor, KP_TYPE_TENSOR), "ValueError: echo: ndim is -3; expected 0 to 64");
}

// A function of the peer's: what is in its arguments is looked at, however they hold each other.
TEST_F(ObjectTest, AListThatHoldsItselfIsLookedAtOnce) {
  KpFunctionObject theirs{};
  theirs.header = {1 | uint64_t{1} << 32, KP_TYPE_FUNCTION, 0, nullptr};
  theirs.call = [](void*, const KpAny*, int32_t, KpAny*) { return 0; };
  theirs.cpp_call = &theirs;
  KpAny items[2];
  KpSequenceObject list{};
  list.header = {1 | uint64_t{1} << 32, KP_TYPE_LIST, 0, nullptr};
  list.data = items;
  list.size = list.capacity = 2;
  for (KpAny& item : items) {
    item = kp_none();
    item.type_index = KP_TYPE_LIST;
    item.v.v_obj = &list.header;
  }
  Value result;
  EXPECT_EQ(kp_function_call(&theirs.header, items, 1, result.out()), 0);
  std::vector<KpSequenceObject> chain(2000, list);
  std::vector<KpAny> links(chain.size(), items[0]);
  for (size_t i = 0; i < chain.size(); ++i) {
    chain[i].data = &links[i];
    chain[i].size = i + 1 < chain.size() ? 1 : 0;
    if (i + 1 < chain.size()) links[i].v.v_obj = &chain[i + 1].header;
  }
  KpAny deep = items[0];
  deep.v.v_obj = &chain[0].header;
  EXPECT_EQ(kp_function_call(&theirs.header, &deep, 1, result.out()), -1);
  EXPECT_EQ(TakeError(), "ValueError: function: argument 0: expected containers nested at most 1000 deep, got more");
}

TEST_F(ObjectTest, TheContextOfAFunctionIsToldToWhoMadeIt) {
  int context = 0;
  const auto nothing = [](void*, const KpAny*, int32_t, KpAny*) { return 0; };
  const auto other = [](void*, const KpAny*, int32_t, KpAny*) { return 1; };
  Value function;
  ASSERT_EQ(kp_function_new(&context, nothing, nullptr, function.out()), 0);
  EXPECT_EQ(kp_function_context(function.object(), nothing), &context);
  EXPECT_EQ(kp_function_context(function.object(), other), nullptr);
}

int AddOne(void* self, const KpAny* args, int32_t n, KpAny* result) {
  ++*static_cast<int*>(self);
  if (n != 1) return kp_raise("TypeError", "add_one: expected 1 argument, got %d", n);
  *result = Int(args[0].v.v_int + 1);
  return 0;
}

TEST_F(ObjectTest, FunctionCallsWithItsContextAndDeletesItOnce) {
  int calls = 0;
  {
    Value function;
    ASSERT_EQ(
        kp_function_new(&calls, AddOne, [](void* context) { *static_cast<int*>(context) += 100; }, function.out()), 0);
    const KpAny arg = Int(41);
    Value result;
    ASSERT_EQ(kp_function_call(function.object(), &arg, 1, result.out()), 0);
    EXPECT_EQ(result->v.v_int, 42);
    EXPECT_EQ(kp_function_call(function.object(), &arg, 0, result.out()), -1);
    EXPECT_EQ(TakeError(), "TypeError: add_one: expected 1 argument, got 0");
    EXPECT_EQ(calls, 2);
  }
  EXPECT_EQ(calls, 102);
}

TEST_F(ObjectTest, WhatACallbackThrowsIsAnError) {
  Value function;
  ASSERT_EQ(kp_function_new(
                nullptr, [](void*, const KpAny*, int32_t, KpAny*) -> int { throw 42; }, nullptr, function.out()),
            0);
  KpAny result;
  EXPECT_EQ(kp_function_call(function.object(), nullptr, 0, &result), -1);
  EXPECT_EQ(TakeError(), "InternalError: callback: threw something that is not a std::exception");
}

TEST_F(ObjectTest, ABorrowedResultIsRefused) {
  Value function;
  ASSERT_EQ(kp_function_new(
                nullptr,
                [](void*, const KpAny*, int32_t, KpAny* result) {
                  *result = RawStr("dangling");
                  return 0;
                },
                nullptr, function.out()),
            0);
  KpAny result;
  EXPECT_EQ(kp_function_call(function.object(), nullptr, 0, &result), -1);
  EXPECT_EQ(result.type_index, KP_TYPE_NONE);
  EXPECT_NE(TakeError().find("returned a borrowed str"), std::string::npos);
}

TEST_F(ObjectTest, CallingWhatIsNoFunctionIsATypeError) {
  KpAny result;
  EXPECT_EQ(kp_function_call(nullptr, nullptr, 0, &result), -1);
  EXPECT_EQ(TakeError(), "TypeError: kp_function_call: expected a Function, got NULL");
  Value function;
  ASSERT_EQ(kp_function_new(nullptr, AddOne, nullptr, function.out()), 0);
  EXPECT_EQ(kp_function_call(function.object(), nullptr, 2, &result), -1);
  EXPECT_EQ(TakeError(), "ValueError: kp_function_call: num_args is 2 and args is NULL");
}

TEST_F(ObjectTest, OpaqueHandleIsGivenBackOnce) {
  int deleted = 0;
  {
    Value opaque;
    ASSERT_EQ(kp_opaque_new(
                  &deleted, KP_TYPE_OPAQUE_PY_OBJECT, [](void* handle) { ++*static_cast<int*>(handle); }, opaque.out()),
              0);
    EXPECT_EQ(reinterpret_cast<KpOpaqueObject*>(opaque.object())->handle, &deleted);
    KpAny again;
    ASSERT_EQ(kp_any_own(&opaque.get(), &again), 0);
    kp_any_release(&again);
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
  KpAny out;
  EXPECT_EQ(kp_opaque_new(nullptr, KP_TYPE_TENSOR, nullptr, &out), -1);
  EXPECT_NE(TakeError().find("ValueError: kp_opaque_new: type_index"), std::string::npos);
}

TEST_F(ObjectTest, WeakReferencesKeepOnlyTheMemory) {
  int deleted = 0;
  KpAny opaque;
  ASSERT_EQ(kp_opaque_new(
                &deleted, KP_TYPE_OPAQUE_PY_OBJECT, [](void* handle) { ++*static_cast<int*>(handle); }, &opaque),
            0);
  KpObject* object = opaque.v.v_obj;
  object->counts += uint64_t{1} << 32;
  kp_any_release(&opaque);
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(object->counts, uint64_t{1} << 32);
  object->deleter(object, KP_DELETE_WEAK);
  EXPECT_EQ(deleted, 1);
}

TEST_F(ObjectTest, TypesHaveTheirNames) {
  EXPECT_STREQ(kp_type_name(KP_TYPE_NONE), "None");
  EXPECT_STREQ(kp_type_name(KP_TYPE_SMALL_STR), "str");
  EXPECT_STREQ(kp_type_name(KP_TYPE_DLTENSOR_PTR), "Tensor");
  EXPECT_STREQ(kp_type_name(KP_TYPE_TENSOR), "Tensor");
  EXPECT_STREQ(kp_type_name(KP_TYPE_LIST), "List");
  EXPECT_STREQ(kp_type_name(79), "unknown type");
  EXPECT_STREQ(kp_type_name(KP_TYPE_DICT), "Dict");
  EXPECT_STREQ(kp_type_name(-5), "unknown type");
  EXPECT_STREQ(kp_type_name(200), "foreign object");
}

}  // namespace
}  // namespace kernpack_test
