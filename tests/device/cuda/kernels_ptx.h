// The kernels of gpu/kernels.cu as PTX, for builds without nvcc.
#ifndef KERNPACK_TESTS_DEVICE_CUDA_KERNELS_PTX_H_
#define KERNPACK_TESTS_DEVICE_CUDA_KERNELS_PTX_H_

#include <map>
#include <string>
#include <vector>

namespace kernpack::cuda {

inline const std::map<std::string, std::string>& KernelTexts() {
  static const std::map<std::string, std::string> texts{
      {"kp_test_scale", R"(.visible .entry kp_test_scale(.param .u64 x, .param .f32 factor, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [x];
  ld.param.f32 %f1, [factor];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra $end;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.s32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd4], %f3;
$end:
  ret;
}
)"},
      {"kp_test_add", R"(.visible .entry kp_test_add(.param .u64 out, .param .u64 a, .param .u64 b, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [a];
  ld.param.u64 %rd3, [b];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra $end;
  mul.wide.s32 %rd4, %r5, 4;
  add.s64 %rd5, %rd2, %rd4;
  add.s64 %rd6, %rd3, %rd4;
  add.s64 %rd7, %rd1, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
$end:
  ret;
}
)"},
      {"kp_test_shape", R"(.extern .shared .align 16 .b8 dynamic[];
.visible .entry kp_test_shape(.param .u64 out)
{
  .shared .align 4 .b8 fixed[1024];
  .reg .pred %p<3>;
  .reg .b32 %r<24>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %dynamic_smem_size;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %tid.y;
  mov.u32 %r4, %tid.z;
  mov.u32 %r5, %ntid.x;
  mov.u32 %r6, %ntid.y;
  mov.u32 %r7, %ntid.z;
  mad.lo.s32 %r8, %r4, %r6, %r3;
  mad.lo.s32 %r8, %r8, %r5, %r2;
  mul.lo.s32 %r9, %r5, %r6;
  mul.lo.s32 %r9, %r9, %r7;
  mov.u32 %r10, 1;
  mov.u32 %r20, dynamic;
$next:
  setp.ge.u32 %p1, %r8, %r1;
  @%p1 bra $done;
  add.u32 %r11, %r20, %r8;
  st.shared.u8 [%r11], %r10;
  add.u32 %r8, %r8, %r9;
  bra $next;
$done:
  or.b32 %r12, %r2, %r3;
  or.b32 %r12, %r12, %r4;
  mov.u32 %r13, %ctaid.x;
  mov.u32 %r14, %ctaid.y;
  mov.u32 %r15, %ctaid.z;
  or.b32 %r12, %r12, %r13;
  or.b32 %r12, %r12, %r14;
  or.b32 %r12, %r12, %r15;
  setp.ne.u32 %p2, %r12, 0;
  @%p2 bra $end;
  st.shared.u8 [fixed+1023], %r10;
  mov.u32 %r16, %nctaid.x;
  mov.u32 %r17, %nctaid.y;
  mov.u32 %r18, %nctaid.z;
  mov.u32 %r19, %cluster_nctarank;
  cvta.to.global.u64 %rd2, %rd1;
  st.global.v4.u32 [%rd2], {%r16, %r17, %r18, %r5};
  st.global.v4.u32 [%rd2+16], {%r6, %r7, %r19, %r1};
$end:
  ret;
}
)"},
      {"kp_test_bounded", ".visible .entry kp_test_bounded()\n.maxntid 128, 1, 1\n{\n  ret;\n}\n"},
      {"kp_test_needs_cluster", ".visible .entry kp_test_needs_cluster()\n.explicitcluster\n{\n  ret;\n}\n"},
  };
  return texts;
}

// A module of some of them, for "sm_80".
inline std::string Ptx(const std::string& arch, const std::vector<std::string>& kernels) {
  std::string text = ".version 8.0\n.target " + arch + "\n.address_size 64\n";
  for (const std::string& kernel : kernels) text += KernelTexts().at(kernel);
  return text;
}

}  // namespace kernpack::cuda

#endif  // KERNPACK_TESTS_DEVICE_CUDA_KERNELS_PTX_H_
