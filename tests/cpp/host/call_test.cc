// Facts about a call in progress that the host knows: stream, allocator, interrupts.
#include "support.h"

#include <kernpack/call_device.h>

#include <thread>

namespace kernpack_test {
namespace {

class CallTest : public HostTest {
 protected:
  void* Stream(KpDLDevice device) {
    void* stream = this;
    EXPECT_EQ(host->current_stream(host, device, &stream), 0);
    return stream;
  }
};

TEST_F(CallTest, StreamsNestAndBelongToTheirDevice) {
  int streams[3];
  EXPECT_EQ(Stream({KP_DEVICE_CUDA, 0}), nullptr);
  KpCallContext outer{};
  outer.device = {KP_DEVICE_CUDA, 0};
  outer.stream = &streams[0];
  kp_call_enter(&outer);
  EXPECT_EQ(Stream({KP_DEVICE_CUDA, 0}), &streams[0]);
  EXPECT_EQ(Stream({KP_DEVICE_CUDA, 1}), nullptr);
  EXPECT_EQ(Stream({KP_DEVICE_CPU, 0}), nullptr);
  KpCallContext inner{};
  inner.device = {KP_DEVICE_CUDA, 1};
  inner.stream = &streams[1];
  kp_call_enter(&inner);
  EXPECT_EQ(Stream({KP_DEVICE_CUDA, 0}), &streams[0]);
  EXPECT_EQ(Stream({KP_DEVICE_CUDA, 1}), &streams[1]);
  std::thread([&] { EXPECT_EQ(Stream({KP_DEVICE_CUDA, 1}), nullptr) << "contexts are a thread's own"; }).join();
  kp_call_leave(&inner);
  EXPECT_EQ(Stream({KP_DEVICE_CUDA, 1}), nullptr);
  kp_call_leave(&outer);
  EXPECT_EQ(Stream({KP_DEVICE_CUDA, 0}), nullptr);
}

TEST_F(CallTest, AllocationIsTheFrameworksWhenThereIsOne) {
  int64_t shape[] = {4};
  const KpDLTensor prototype{nullptr, {KP_DEVICE_CPU, 0}, 1, {KP_DTYPE_FLOAT, 32, 1}, shape, nullptr, 0};
  Value tensor;
  ASSERT_EQ(host->tensor_alloc(host, &prototype, tensor.out()), 0);
  EXPECT_EQ(tensor->type_index, KP_TYPE_TENSOR);
  KpCallContext call{};
  call.tensor_alloc = [](void*, const KpDLTensor*, KpAny*) { return kp_raise("MemoryError", "the framework is full"); };
  kp_call_enter(&call);
  EXPECT_EQ(host->tensor_alloc(host, &prototype, tensor.out()), -1);
  EXPECT_EQ(TakeError(), "MemoryError: the framework is full");
  kp_call_leave(&call);
}

TEST_F(CallTest, NoAllocatorForADeviceIsAnErrorThatSaysWhatToDo) {
  int64_t shape[] = {4};
  const KpDLTensor prototype{nullptr, {KP_DEVICE_ROCM, 2}, 1, {KP_DTYPE_FLOAT, 32, 1}, shape, nullptr, 0};
  KpAny out;
  EXPECT_EQ(host->tensor_alloc(host, &prototype, &out), -1);
  EXPECT_EQ(TakeError().find("RuntimeError: no allocator for device rocm:2 in this call; pass a tensor"), 0u);
}

TEST_F(CallTest, AnInterruptReachesTheHost) {
  EXPECT_EQ(host->check_interrupts(host), 0);
  KpCallContext quiet{};
  quiet.check_interrupts = [] { return 0; };
  kp_call_enter(&quiet);
  EXPECT_EQ(host->check_interrupts(host), 0);
  KpCallContext pressed{};
  pressed.check_interrupts = [] { return -1; };
  kp_call_enter(&pressed);
  EXPECT_EQ(host->check_interrupts(host), -1);
  EXPECT_EQ(TakeError(), "KeyboardInterrupt: interrupted");
  kp_call_leave(&pressed);
  kp_call_leave(&quiet);
}

TEST_F(CallTest, WithoutAContractItRunsWhereTheFirstTensorIsThatIsNotOnTheCpu) {
  KpDLTensor tensors[] = {{}, {}, {}};
  tensors[0].device = {KP_DEVICE_CPU, 0};
  tensors[1].device = {KP_DEVICE_CUDA, 1};
  tensors[2].device = {KP_DEVICE_CUDA, 0};
  KpAny args[4] = {kp_none(), kp_none(), kp_none(), kp_none()};
  for (int i = 0; i < 3; ++i) {
    args[i + 1].type_index = KP_TYPE_DLTENSOR_PTR;
    args[i + 1].v.v_tensor = &tensors[i];
  }
  const auto device = [&](int64_t count) {
    const KpDLDevice found = kp_call_device(args, count);
    return std::string(kp_device_type_name(found.device_type)) + ":" + std::to_string(found.device_id);
  };
  EXPECT_EQ(device(0), "cpu:0");
  EXPECT_EQ(device(1), "cpu:0");
  EXPECT_EQ(device(2), "cpu:0");
  EXPECT_EQ(device(3), "cuda:1");
  EXPECT_EQ(device(4), "cuda:1");
}

}  // namespace
}  // namespace kernpack_test
