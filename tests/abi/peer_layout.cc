// abi.h against the headers of the installed apache-tvm-ffi. Compile only.
#include <kernpack/dlpack.h>
#include <tvm/ffi/c_api.h>

#include "../../bindings/python/src/values/exchange.h"
#include "pin_macros.h"

// The body behind an object's 24-byte header.
#define SAME_BODY(ours, field, theirs, their_field)                                            \
  static_assert(offsetof(ours, field) == sizeof(TVMFFIObject) + offsetof(theirs, their_field), \
                #ours "." #field " against " #theirs "." #their_field);

SAME_SIZE(KpAny, TVMFFIAny)
SAME(KpAny, type_index, TVMFFIAny, type_index)
SAME(KpAny, small_len, TVMFFIAny, small_str_len)
SAME(KpAny, v.v_int, TVMFFIAny, v_int64)
SAME(KpAny, v.v_float, TVMFFIAny, v_float64)
SAME(KpAny, v.v_dtype, TVMFFIAny, v_dtype)
SAME(KpAny, v.v_device, TVMFFIAny, v_device)
SAME(KpAny, v.v_bytes, TVMFFIAny, v_bytes)
SAME(KpAny, v.v_obj, TVMFFIAny, v_obj)

SAME_SIZE(KpObject, TVMFFIObject)
SAME(KpObject, counts, TVMFFIObject, combined_ref_count)
SAME(KpObject, type_index, TVMFFIObject, type_index)
SAME(KpObject, deleter, TVMFFIObject, deleter)

SAME_SIZE(KpBytes, TVMFFIByteArray)
SAME(KpBytes, data, TVMFFIByteArray, data)
SAME(KpBytes, size, TVMFFIByteArray, size)
SAME_BODY(KpShapeObject, data, TVMFFIShapeCell, data)
SAME_BODY(KpShapeObject, size, TVMFFIShapeCell, size)
SAME_BODY(KpFunctionObject, call, TVMFFIFunctionCell, safe_call)
SAME_BODY(KpFunctionObject, cpp_call, TVMFFIFunctionCell, cpp_call)
SAME_BODY(KpSequenceObject, data, TVMFFISeqCell, data)
SAME_BODY(KpSequenceObject, size, TVMFFISeqCell, size)
SAME_BODY(KpSequenceObject, capacity, TVMFFISeqCell, capacity)
SAME_BODY(KpSequenceObject, data_deleter, TVMFFISeqCell, data_deleter)
SAME_BODY(KpErrorObject, kind, TVMFFIErrorCell, kind)
SAME_BODY(KpErrorObject, message, TVMFFIErrorCell, message)
SAME_BODY(KpErrorObject, backtrace, TVMFFIErrorCell, backtrace)
SAME_BODY(KpErrorObject, update_backtrace, TVMFFIErrorCell, update_backtrace)
SAME_BODY(KpErrorObject, cause, TVMFFIErrorCell, cause_chain)
SAME_BODY(KpErrorObject, extra_context, TVMFFIErrorCell, extra_context)
SAME_BODY(KpOpaqueObject, handle, TVMFFIOpaqueObjectCell, handle)
static_assert(sizeof(KpErrorObject) == sizeof(TVMFFIObject) + sizeof(TVMFFIErrorCell), "Error object");
static_assert(sizeof(KpTensorObject) == sizeof(TVMFFIObject) + sizeof(DLTensor), "Tensor object");

SAME_VALUE(KP_TYPE_NONE, kTVMFFINone)
SAME_VALUE(KP_TYPE_INT, kTVMFFIInt)
SAME_VALUE(KP_TYPE_BOOL, kTVMFFIBool)
SAME_VALUE(KP_TYPE_FLOAT, kTVMFFIFloat)
SAME_VALUE(KP_TYPE_OPAQUE_PTR, kTVMFFIOpaquePtr)
SAME_VALUE(KP_TYPE_DTYPE, kTVMFFIDataType)
SAME_VALUE(KP_TYPE_DEVICE, kTVMFFIDevice)
SAME_VALUE(KP_TYPE_DLTENSOR_PTR, kTVMFFIDLTensorPtr)
SAME_VALUE(KP_TYPE_RAW_STR, kTVMFFIRawStr)
SAME_VALUE(KP_TYPE_BYTE_ARRAY_PTR, kTVMFFIByteArrayPtr)
SAME_VALUE(KP_TYPE_RVALUE_REF, kTVMFFIObjectRValueRef)
SAME_VALUE(KP_TYPE_SMALL_STR, kTVMFFISmallStr)
SAME_VALUE(KP_TYPE_SMALL_BYTES, kTVMFFISmallBytes)
SAME_VALUE(KP_TYPE_STATIC_OBJECT_BEGIN, kTVMFFIStaticObjectBegin)
SAME_VALUE(KP_TYPE_STR, kTVMFFIStr)
SAME_VALUE(KP_TYPE_BYTES, kTVMFFIBytes)
SAME_VALUE(KP_TYPE_ERROR, kTVMFFIError)
SAME_VALUE(KP_TYPE_FUNCTION, kTVMFFIFunction)
SAME_VALUE(KP_TYPE_SHAPE, kTVMFFIShape)
SAME_VALUE(KP_TYPE_TENSOR, kTVMFFITensor)
SAME_VALUE(KP_TYPE_ARRAY, kTVMFFIArray)
SAME_VALUE(KP_TYPE_MAP, kTVMFFIMap)
SAME_VALUE(KP_TYPE_MODULE, kTVMFFIModule)
SAME_VALUE(KP_TYPE_OPAQUE_PY_OBJECT, kTVMFFIOpaquePyObject)
SAME_VALUE(KP_TYPE_LIST, kTVMFFIList)
SAME_VALUE(KP_TYPE_DICT, kTVMFFIDict)
SAME_VALUE(KP_TYPE_VISIT_INTERRUPT, kTVMFFIVisitInterrupt)
SAME_VALUE(KP_TYPE_BIG_INT, kTVMFFIBigInt)
SAME_VALUE(KP_TYPE_DYNAMIC, kTVMFFIDynObjectBegin)
SAME_VALUE(KP_DELETE_STRONG, kTVMFFIObjectDeleterFlagBitMaskStrong)
SAME_VALUE(KP_DELETE_WEAK, kTVMFFIObjectDeleterFlagBitMaskWeak)

#include "dlpack_pins.h"
