/* An NVRTC of version 13.9 that knows sm_80 alone, and compiles for FAKE_NVRTC_SECONDS, then fails. The file FAKE_NVRTC_LOG gets a b when
   a compilation begins, and an e when one ends. */
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 9, 0; }
int nvrtcGetNumSupportedArchs(int* count) { return *count = 1, 0; }
int nvrtcGetSupportedArchs(int* archs) { return *archs = 80, 0; }
int nvrtcCreateProgram(void** program, const char* source, const char* name, int headers, const char* const* texts,
                       const char* const* names) {
  (void)source, (void)name, (void)headers, (void)texts, (void)names;
  return *program = NULL, 0;
}
int nvrtcAddNameExpression(void* program, const char* expression) { return (void)program, (void)expression, 0; }
int nvrtcGetLoweredName(void* program, const char* expression, const char** name) {
  return (void)program, *name = expression, 0;
}
static void log_mark(const char* mark) {
  const char* path = getenv("FAKE_NVRTC_LOG");
  const int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
  if (file < 0) return;
  if (write(file, mark, 1) != 1) abort();
  close(file);
}
int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  (void)program, (void)count, (void)options;
  const char* seconds = getenv("FAKE_NVRTC_SECONDS");
  log_mark("b");
  usleep((useconds_t)(1000000 * atof(seconds ? seconds : "0")));
  log_mark("e");
  return 6;
}
int nvrtcGetProgramLogSize(void* program, size_t* size) { return (void)program, *size = sizeof "rows.cu(1): fake", 0; }
int nvrtcGetProgramLog(void* program, char* log) { return (void)program, strcpy(log, "rows.cu(1): fake"), 0; }
int nvrtcGetCUBINSize(void* program, size_t* size) { return (void)program, *size = 0, 0; }
int nvrtcGetCUBIN(void* program, char* cubin) { return (void)program, (void)cubin, 0; }
int nvrtcGetPTXSize(void* program, size_t* size) { return (void)program, *size = 0, 0; }
int nvrtcGetPTX(void* program, char* ptx) { return (void)program, (void)ptx, 0; }
int nvrtcDestroyProgram(void** program) { return (void)program, 0; }
const char* nvrtcGetErrorString(int result) { return result == 6 ? "NVRTC_ERROR_COMPILATION" : "?"; }
