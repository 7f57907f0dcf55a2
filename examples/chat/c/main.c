/* Prompt ids in, the likeliest answer's ids out, a line each, as they come. No Python, no C++.
 *
 *   llama KERNELS.so MODEL.gguf COUNT [--logits FILE] ID...
 *
 * COUNT is how many tokens are written; --logits also writes the logits that each was taken from, as f32. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llama.h"

static int whole(const char* text, int64_t most, int64_t* out) {
  char* end;
  long long value;
  errno = 0;
  value = strtoll(text, &end, 10);
  if (errno || end == text || *end || value < 0 || value >= most) {
    fprintf(stderr, "expected a number from 0 to %lld, got %s\n", (long long)most - 1, text);
    return -1;
  }
  *out = value;
  return 0;
}

static int answer(Llama* model, const int32_t* prompt, int64_t size, int64_t count, FILE* kept) {
  float* logits = calloc((size_t)model->sizes.vocabulary, sizeof *logits);
  int32_t token = 0;
  int64_t i;
  int rc = logits ? llama_forward(model, prompt, size, logits) : -1;
  for (i = 0; rc == 0; ++i) {
    if (kept &&
        fwrite(logits, sizeof *logits, (size_t)model->sizes.vocabulary, kept) != (size_t)model->sizes.vocabulary)
      rc = -1;
    if (rc == 0) rc = argmax(logits, model->sizes.vocabulary, &token);
    if (rc == 0 && (printf("%d\n", (int)token) < 0 || fflush(stdout))) rc = -1;
    if (rc || i + 1 == count) break;
    rc = llama_forward(model, &token, 1, logits);
  }
  free(logits);
  return rc;
}

static int chat(const Gguf* file, int argc, char** argv) {
  const char* logits = argc > 5 && strcmp(argv[4], "--logits") == 0 ? argv[5] : NULL;
  const int first = logits ? 6 : 4;
  const int64_t size = argc - first;
  int64_t count, i, id;
  int32_t* prompt;
  Llama model;
  FILE* kept = NULL;
  int rc = -1;
  if (size < 1 || size >= file->sizes.context) {
    fprintf(stderr, "a prompt of %lld tokens: the model has room for 1 to %lld\n", (long long)size,
            (long long)file->sizes.context - 1);
    return -1;
  }
  if (whole(argv[3], file->sizes.context - size + 1, &count) || count == 0) {
    fprintf(stderr, "COUNT: expected how many tokens to write, at least 1, within the model's context of %lld\n",
            (long long)file->sizes.context);
    return -1;
  }
  prompt = calloc((size_t)size, sizeof *prompt);
  for (i = 0; prompt && i < size; ++i) {
    if (whole(argv[first + i], file->sizes.vocabulary, &id)) {
      free(prompt);
      return -1;
    }
    prompt[i] = (int32_t)id;
  }
  if (logits && !(kept = fopen(logits, "wb"))) {
    fprintf(stderr, "%s: can't be written\n", logits);
  } else {
    rc = prompt && kernels_load(argv[1]) == 0 ? 0 : -1;
    if (rc == 0) {
      rc = llama_open(file, size + count, &model);
      if (rc == 0) rc = answer(&model, prompt, size, count, kept);
      llama_free(&model);
    }
  }
  if (kept && fclose(kept) != 0) rc = -1;
  free(prompt);
  return rc;
}

int main(int argc, char** argv) {
  Gguf file;
  int rc;
  if (argc < 5) {
    fprintf(stderr, "usage: %s KERNELS.so MODEL.gguf COUNT [--logits FILE] ID...\n", argv[0]);
    return 2;
  }
  rc = gguf_open(argv[2], &file);
  if (rc == 0) rc = chat(&file, argc, argv);
  gguf_close(&file);
  return rc == 0 ? 0 : 1;
}
