/* Libraries that NVIDIA ships in wheels of their own, a row each: X(major version of CUDA, name in CMake (nvidia::<name>), file name,
 * requirement for pip, folder below Python's folder of packages, prefixes of the names of its functions).
 *
 * The host reads the table (which wheel has the library that a module needs?), and so do the SDK's CMake and Python, line by line: a
 * row is one line. Some file names are the same for two versions of CUDA.
 */
#ifndef KERNPACK_LIBRARY_TABLE_H_
#define KERNPACK_LIBRARY_TABLE_H_

/* clang-format off */
#define KP_NVIDIA_LIBRARIES(X) \
  X(13, cublas, "libcublas.so.13", "nvidia-cublas>=13,<14", "nvidia/cu13/lib", "cublas") \
  X(13, cublasLt, "libcublasLt.so.13", "nvidia-cublas>=13,<14", "nvidia/cu13/lib", "cublasLt") \
  X(13, cudnn, "libcudnn.so.9", "nvidia-cudnn-cu13>=9,<10", "nvidia/cudnn/lib", "cudnn") \
  X(13, cufft, "libcufft.so.12", "nvidia-cufft>=12,<13", "nvidia/cu13/lib", "cufft") \
  X(13, curand, "libcurand.so.10", "nvidia-curand>=10,<11", "nvidia/cu13/lib", "curand") \
  X(13, cusolver, "libcusolver.so.12", "nvidia-cusolver>=12,<13", "nvidia/cu13/lib", "cusolver") \
  X(13, cusparse, "libcusparse.so.12", "nvidia-cusparse>=12,<13", "nvidia/cu13/lib", "cusparse") \
  X(13, cusparseLt, "libcusparseLt.so.0", "nvidia-cusparselt-cu13>=0.8,<1", "nvidia/cusparselt/lib", "cusparseLt") \
  X(13, nccl, "libnccl.so.2", "nvidia-nccl-cu13>=2,<3", "nvidia/nccl/lib", "nccl pnccl") \
  X(13, nvjitlink, "libnvJitLink.so.13", "nvidia-nvjitlink>=13,<14", "nvidia/cu13/lib", "nvJitLink __nvJitLink") \
  X(13, nvrtc, "libnvrtc.so.13", "nvidia-cuda-nvrtc>=13,<14", "nvidia/cu13/lib", "nvrtc") \
  X(13, nvshmem, "libnvshmem_host.so.3", "nvidia-nvshmem-cu13>=3,<4", "nvidia/nvshmem/lib", "nvshmem") \
  X(12, cublas, "libcublas.so.12", "nvidia-cublas-cu12>=12,<13", "nvidia/cublas/lib", "cublas") \
  X(12, cublasLt, "libcublasLt.so.12", "nvidia-cublas-cu12>=12,<13", "nvidia/cublas/lib", "cublasLt") \
  X(12, cudnn, "libcudnn.so.9", "nvidia-cudnn-cu12>=9,<10", "nvidia/cudnn/lib", "cudnn") \
  X(12, cufft, "libcufft.so.11", "nvidia-cufft-cu12>=11,<12", "nvidia/cufft/lib", "cufft") \
  X(12, curand, "libcurand.so.10", "nvidia-curand-cu12>=10,<11", "nvidia/curand/lib", "curand") \
  X(12, cusolver, "libcusolver.so.11", "nvidia-cusolver-cu12>=11,<12", "nvidia/cusolver/lib", "cusolver") \
  X(12, cusparse, "libcusparse.so.12", "nvidia-cusparse-cu12>=12,<13", "nvidia/cusparse/lib", "cusparse") \
  X(12, cusparseLt, "libcusparseLt.so.0", "nvidia-cusparselt-cu12>=0.6,<1", "nvidia/cusparselt/lib", "cusparseLt") \
  X(12, nccl, "libnccl.so.2", "nvidia-nccl-cu12>=2,<3", "nvidia/nccl/lib", "nccl pnccl") \
  X(12, nvjitlink, "libnvJitLink.so.12", "nvidia-nvjitlink-cu12>=12,<13", "nvidia/nvjitlink/lib", "nvJitLink __nvJitLink") \
  X(12, nvrtc, "libnvrtc.so.12", "nvidia-cuda-nvrtc-cu12>=12,<13", "nvidia/cuda_nvrtc/lib", "nvrtc") \
  X(12, nvshmem, "libnvshmem_host.so.3", "nvidia-nvshmem-cu12>=3,<4", "nvidia/nvshmem/lib", "nvshmem")
/* clang-format on */

/* A module says in an ELF note which wheels have the libraries that it was linked with; the SDK writes it. The note's text is lines of
 * "file name<TAB>requirement<TAB>folder"; it goes before the table. */
#define KP_NEEDS_NOTE_OWNER "Kernpack"
#define KP_NEEDS_NOTE_TYPE 1

#endif /* KERNPACK_LIBRARY_TABLE_H_ */
