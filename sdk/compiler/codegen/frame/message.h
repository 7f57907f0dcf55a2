// Errors of generated functions, in plain C99: part of the frame, and of every C file that is generated.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_FRAME_MESSAGE_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_FRAME_MESSAGE_H_

#include <kernpack/abi.h>
#include <kernpack/value_names.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// A text that grows; it is cut where memory runs out.
typedef struct KpMessage {
  char* text;
  size_t size;
  size_t capacity;
  char first[256];
} KpMessage;

KP_INLINE_C void kp_add_bytes(KpMessage* m, const char* text, size_t n) {
  if (n > m->capacity - m->size) {
    const size_t capacity = 2 * (m->size + n);
    char* const grown = (char*)malloc(capacity);
    if (grown) {
      memcpy(grown, m->text, m->size);
      if (m->text != m->first) free(m->text);
      m->text = grown;
      m->capacity = capacity;
    } else {
      n = m->capacity - m->size;
    }
  }
  memcpy(m->text + m->size, text, n);
  m->size += n;
}

KP_INLINE_C void kp_add(KpMessage* m, const char* text) { kp_add_bytes(m, text, strlen(text)); }

KP_INLINE_C void kp_add_integer(KpMessage* m, int64_t value) {
  char digits[20];
  size_t at = sizeof digits;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  if (value < 0) kp_add(m, "-");
  do {
    digits[--at] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest);
  kp_add_bytes(m, digits + at, sizeof digits - at);
}

KP_INLINE_C void kp_add_list(KpMessage* m, const int64_t* values, int32_t count) {
  kp_add(m, "[");
  for (int32_t i = 0; i < count; ++i) {
    if (i) kp_add(m, ", ");
    kp_add_integer(m, values[i]);
  }
  kp_add(m, "]");
}

KP_INLINE_C void kp_add_dtype(KpMessage* m, KpDLDataType t) {
  const char* const name = kp_known_dtype_name(t.code, t.bits);
  if (name) {
    kp_add(m, name);
    if (t.lanes == 1) return;
    kp_add(m, "x");
    kp_add_integer(m, t.lanes);
    return;
  }
  kp_add(m, "dtype(code=");
  kp_add_integer(m, t.code);
  kp_add(m, ", bits=");
  kp_add_integer(m, t.bits);
  kp_add(m, ", lanes=");
  kp_add_integer(m, t.lanes);
  kp_add(m, ")");
}

KP_INLINE_C void kp_add_device(KpMessage* m, KpDLDevice d) {
  const char* const name = kp_known_device_name(d.device_type);
  if (name) {
    kp_add(m, name);
  } else {
    kp_add(m, "device_type(");
    kp_add_integer(m, d.device_type);
    kp_add(m, ")");
  }
  if (d.device_type == KP_DEVICE_CPU) return;
  kp_add(m, ":");
  kp_add_integer(m, d.device_id);
}

KP_INLINE_C void kp_start_message(KpMessage* m) {
  m->text = m->first;
  m->size = 0;
  m->capacity = sizeof m->first;
}

KP_INLINE_C int kp_send_message(const KpHost* host, const char* kind, KpMessage* m) {
  KpBytes text;
  int rc;
  text.data = m->text;
  text.size = m->size;
  rc = host->raise(host, kp_bytes(kind), text, kp_bytes(NULL));
  if (m->text != m->first) free(m->text);
  return rc;
}

// These raise an error of that kind and return -1. The format's directives, a part of those of kernpack/signature/complain.h, and
// their arguments:
//   %s const char*     %i int64_t        %l int64_t const*, int32_t: [2, 3]    %t KpAny const*: its type
//   %d KpDLDataType    %D KpDLDevice
KP_INLINE_C int kp_fail(const KpHost* host, const char* kind, const char* format, ...) {
  KpMessage m;
  va_list arguments;
  kp_start_message(&m);
  va_start(arguments, format);
  for (; *format; ++format) {
    if (*format != '%') {
      kp_add_bytes(&m, format, 1);
      continue;
    }
    switch (*++format) {
      case 's':
        kp_add(&m, va_arg(arguments, const char*));
        break;
      case 'i':
        kp_add_integer(&m, va_arg(arguments, int64_t));
        break;
      case 'l': {
        const int64_t* const values = va_arg(arguments, const int64_t*);
        kp_add_list(&m, values, va_arg(arguments, int32_t));
        break;
      }
      case 't':
        kp_add(&m, kp_value_type_name(va_arg(arguments, const KpAny*)->type_index));
        break;
      case 'd':
        kp_add_dtype(&m, va_arg(arguments, KpDLDataType));
        break;
      default:
        kp_add_device(&m, va_arg(arguments, KpDLDevice));
    }
  }
  va_end(arguments);
  return kp_send_message(host, kind, &m);
}

// The message's first `count` places "{}" are taken by the values, in order.
KP_INLINE_C int kp_fail_with(const KpHost* host, const char* kind, const char* message, const int64_t* values,
                             int32_t count) {
  KpMessage m;
  const char* place;
  kp_start_message(&m);
  for (int32_t i = 0; i < count && (place = strstr(message, "{}")) != NULL; ++i) {
    kp_add_bytes(&m, message, (size_t)(place - message));
    kp_add_integer(&m, values[i]);
    message = place + 2;
  }
  kp_add(&m, message);
  return kp_send_message(host, kind, &m);
}

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_FRAME_MESSAGE_H_
