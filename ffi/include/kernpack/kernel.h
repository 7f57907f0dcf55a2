// The header that a kernel's source file includes.
#ifndef KERNPACK_KERNEL_H_
#define KERNPACK_KERNEL_H_

#include <kernpack/accessor.h>
#include <kernpack/atomic.h>
#include <kernpack/class.h>
#include <kernpack/contiguous.h>
#include <kernpack/dispatch.h>
#include <kernpack/export.h>
#include <kernpack/float8.h>
#include <kernpack/float8_bits.h>
#include <kernpack/function.h>
#include <kernpack/half.h>
#include <kernpack/log.h>
#include <kernpack/map.h>
#include <kernpack/parallel.h>
#include <kernpack/random.h>
#include <kernpack/span.h>
#include <kernpack/storage.h>
#include <kernpack/stream.h>
#include <kernpack/tensor.h>
#include <kernpack/workspace.h>

#endif  // KERNPACK_KERNEL_H_
