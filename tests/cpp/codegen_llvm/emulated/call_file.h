/* A call as a file that both sides map: its arguments, then the elements of its tensors, which the callee works on in place. */
#ifndef KERNPACK_TESTS_CPP_CODEGEN_LLVM_EMULATED_CALL_FILE_H_
#define KERNPACK_TESTS_CPP_CODEGEN_LLVM_EMULATED_CALL_FILE_H_

#include <kernpack/abi.h>

enum { kMostArguments = 32, kMostDims = 8 };

typedef struct CallArgument {
  int32_t type_index; /* KP_TYPE_DLTENSOR_PTR: a tensor */
  int32_t ndim;
  KpDLDataType dtype;
  int64_t shape[kMostDims];
  uint64_t bits; /* of a plain value; of a tensor where its elements begin in the file */
} CallArgument;

typedef struct CallFile {
  int32_t count;
  CallArgument arguments[kMostArguments];
} CallFile;

#endif
