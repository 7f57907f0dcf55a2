// Tensors: allocation, wrapping, DLPack both ways.
#include "support.h"

#include <cstring>

namespace kernpack_test {
namespace {

class TensorTest : public HostTest {
 protected:
  static KpDLTensor Prototype(int64_t* shape, int32_t ndim, KpDLDataType dtype = {KP_DTYPE_FLOAT, 32, 1}) {
    return KpDLTensor{nullptr, {KP_DEVICE_CPU, 0}, ndim, dtype, shape, nullptr, 0};
  }
};

TEST(RowMajorStrides, OfATensorWithoutElementsMayWrapAround) {
  const int64_t shape[] = {0, int64_t{1} << 40, int64_t{1} << 40};
  int64_t strides[3];
  kp_row_major_strides(3, shape, strides);
  EXPECT_EQ(strides[2], 1);
  EXPECT_EQ(strides[1], int64_t{1} << 40);
  EXPECT_EQ(strides[0], 0);  // 2^80 modulo 2^64, without undefined behaviour
}

TEST_F(TensorTest, NewIsAlignedCompactAndOwnsItsShape) {
  for (int64_t rows : {0, 1, 3, 1000}) {
    int64_t shape[] = {rows, 5};
    const KpDLTensor prototype = Prototype(shape, 2);
    Value tensor;
    ASSERT_EQ(kp_tensor_new(&prototype, tensor.out()), 0);
    shape[0] = shape[1] = -1;
    const KpDLTensor& made = tensor.tensor();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(made.data) % 256, 0u);
    EXPECT_EQ(made.byte_offset, 0u);
    EXPECT_EQ(made.shape[0], rows);
    EXPECT_EQ(made.shape[1], 5);
    EXPECT_EQ(made.strides[0], 5);
    EXPECT_EQ(made.strides[1], 1);
    std::memset(made.data, 0x5a, static_cast<size_t>(rows) * 20);
  }
}

TEST_F(TensorTest, NewOfRankZeroAndOfSubByteTypes) {
  const KpDLTensor scalar = Prototype(nullptr, 0);
  Value tensor;
  ASSERT_EQ(kp_tensor_new(&scalar, tensor.out()), 0);
  *static_cast<float*>(tensor.tensor().data) = 1;
  int64_t shape[] = {7};
  const KpDLTensor packed = Prototype(shape, 1, {KP_DTYPE_UINT, 4, 1});
  ASSERT_EQ(kp_tensor_new(&packed, tensor.out()), 0);
  std::memset(tensor.tensor().data, 0, 4);
}

TEST_F(TensorTest, NewRefusesOtherDevicesAndImpossibleSizes) {
  int64_t shape[] = {4};
  KpDLTensor prototype = Prototype(shape, 1);
  prototype.device = {KP_DEVICE_CUDA, 1};
  KpAny out;
  EXPECT_EQ(kp_tensor_new(&prototype, &out), -1);
  EXPECT_EQ(TakeError().find("ValueError: kp_tensor_new: expected device cpu, got cuda:1"), 0u);
  prototype.device = {KP_DEVICE_CPU, 0};
  shape[0] = int64_t{1} << 57;
  EXPECT_EQ(kp_tensor_new(&prototype, &out), -1);
  EXPECT_EQ(TakeError(), "MemoryError: kp_tensor_new: out of memory");
  shape[0] = -1;
  EXPECT_EQ(kp_tensor_new(&prototype, &out), -1);
  EXPECT_EQ(TakeError().find("ValueError: kp_tensor_new: shape[0] is -1"), 0u);
  EXPECT_EQ(kp_tensor_new(nullptr, &out), -1);
  EXPECT_EQ(TakeError(), "ValueError: kp_tensor_new: the prototype is NULL");
}

TEST_F(TensorTest, WrapCopiesShapeFillsStridesAndReleasesOnce) {
  float data[6] = {};
  int64_t shape[] = {2, 3};
  KpDLTensor source = Prototype(shape, 2);
  source.data = data;
  int released = 0;
  {
    Value tensor;
    ASSERT_EQ(
        kp_tensor_wrap(&source, &released, [](void* context) { ++*static_cast<int*>(context); }, tensor.out()), 0);
    EXPECT_NE(tensor.tensor().shape, shape);
    EXPECT_EQ(tensor.tensor().strides[0], 3);
    EXPECT_EQ(tensor.tensor().data, data);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  Value unowned;
  ASSERT_EQ(kp_tensor_wrap(&source, nullptr, nullptr, unowned.out()), 0);
}

TEST_F(TensorTest, StridesSurviveAnEmptyDim) {
  int64_t shape[] = {2, 0, 3};
  const KpDLTensor prototype = Prototype(shape, 3);
  Value tensor;
  ASSERT_EQ(kp_tensor_new(&prototype, tensor.out()), 0);
  EXPECT_EQ(tensor.tensor().strides[0], 3);
  EXPECT_EQ(tensor.tensor().strides[1], 3);
  EXPECT_EQ(tensor.tensor().strides[2], 1);
}

TEST_F(TensorTest, NullDeletersAreLegal) {
  float data[2] = {};
  int64_t shape[] = {2};
  KpDLTensor source = Prototype(shape, 1);
  source.data = data;
  KpDLManagedTensor legacy{source, nullptr, nullptr};
  KpDLManagedTensorVersioned versioned{{1, 3}, nullptr, nullptr, 0, source};
  Value tensor;
  EXPECT_EQ(kp_tensor_from_dlpack(&legacy, tensor.out()), 0);
  EXPECT_EQ(kp_tensor_from_dlpack_versioned(&versioned, tensor.out()), 0);
}

TEST_F(TensorTest, AnotherMajorVersionIsRefusedAndLeftToItsOwner) {
  int deleted = 0;
  // The fields behind the deleter are junk: another major may lay them out otherwise.
  KpDLManagedTensorVersioned future{};
  future.version = {2, 5};
  future.manager = &deleted;
  future.deleter = [](KpDLManagedTensorVersioned* self) { ++*static_cast<int*>(self->manager); };
  future.tensor.ndim = -77;
  KpAny out;
  EXPECT_EQ(kp_tensor_from_dlpack_versioned(&future, &out), -1);
  EXPECT_EQ(TakeError().find("BufferError: DLPack: the producer speaks version 2.5; expected major version 1"), 0u);
  EXPECT_EQ(deleted, 0);
  EXPECT_EQ(kp_tensor_from_dlpack_versioned(nullptr, &out), -1);
  EXPECT_EQ(TakeError(), "ValueError: DLPack: the managed tensor is NULL");
}

TEST_F(TensorTest, ReadOnlyIsCarriedAndTheOldProtocolRefused) {
  float data[2] = {};
  int64_t shape[] = {2};
  KpDLTensor source = Prototype(shape, 1);
  source.data = data;
  KpDLManagedTensorVersioned managed{{1, 0}, nullptr, nullptr, 1, source};
  Value tensor;
  ASSERT_EQ(kp_tensor_from_dlpack_versioned(&managed, tensor.out()), 0);
  EXPECT_EQ(kp_tensor_flags(tensor.object()), 1u);
  KpDLManagedTensor* legacy = nullptr;
  EXPECT_EQ(kp_tensor_to_dlpack(tensor.object(), &legacy), -1);
  EXPECT_EQ(TakeError().find("BufferError: the tensor is read-only"), 0u);
  KpDLManagedTensorVersioned* versioned = nullptr;
  ASSERT_EQ(kp_tensor_to_dlpack_versioned(tensor.object(), &versioned), 0);
  EXPECT_EQ(versioned->flags, 1u);
  versioned->deleter(versioned);
}

TEST_F(TensorTest, ATensorCanBeMadeReadOnly) {
  int64_t shape[] = {3};
  const KpDLTensor prototype = Prototype(shape, 1);
  Value tensor;
  ASSERT_EQ(kp_tensor_new(&prototype, tensor.out()), 0);
  EXPECT_EQ(kp_tensor_flags(tensor.object()), 0u);
  ASSERT_EQ(kp_tensor_make_read_only(tensor.object()), 0);
  EXPECT_EQ(kp_tensor_flags(tensor.object()), 1u);
  EXPECT_EQ(kp_tensor_make_read_only(nullptr), -1);
  EXPECT_EQ(TakeError(), "TypeError: kp_tensor_make_read_only: expected a Tensor that this library made");
}

TEST_F(TensorTest, ExportsKeepTheTensorAlive) {
  int64_t shape[] = {3};
  const KpDLTensor prototype = Prototype(shape, 1);
  KpDLManagedTensor* legacy = nullptr;
  KpDLManagedTensorVersioned* versioned = nullptr;
  {
    Value tensor;
    ASSERT_EQ(kp_tensor_new(&prototype, tensor.out()), 0);
    static_cast<float*>(tensor.tensor().data)[2] = 5;
    ASSERT_EQ(kp_tensor_to_dlpack(tensor.object(), &legacy), 0);
    ASSERT_EQ(kp_tensor_to_dlpack_versioned(tensor.object(), &versioned), 0);
  }
  EXPECT_EQ(static_cast<float*>(legacy->tensor.data)[2], 5);
  EXPECT_EQ(versioned->version.major, 1u);
  EXPECT_EQ(versioned->tensor.shape[0], 3);
  legacy->deleter(legacy);
  Value again;  // and in again: a round trip through our own importer
  ASSERT_EQ(kp_tensor_from_dlpack_versioned(versioned, again.out()), 0);
  EXPECT_EQ(static_cast<float*>(again.tensor().data)[2], 5);
}

TEST_F(TensorTest, ExportOfWhatIsNoTensorIsATypeError) {
  KpDLManagedTensor* legacy = nullptr;
  EXPECT_EQ(kp_tensor_to_dlpack(nullptr, &legacy), -1);
  EXPECT_EQ(TakeError(), "TypeError: kp_tensor_to_dlpack: expected a Tensor, got NULL");
  EXPECT_EQ(kp_tensor_flags(nullptr), 0u);
}

}  // namespace
}  // namespace kernpack_test
