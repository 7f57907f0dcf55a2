// embedding's contract: one text for every device.
#pragma once

#define KK_EMBEDDING_WHERE "where T in {f32, f64, f16, bf16}, I in {i32, i64} with deterministic, independent(D)"
#define KK_EMBEDDING_CONTRACT "(table: T[V, D], indices: I[...]) -> (out: T[..., D]) " KK_EMBEDDING_WHERE
#define KK_EMBEDDING_JVP_CONTRACT "(t_table: T[V, D], indices: I[...]) -> (t_out: T[..., D]) " KK_EMBEDDING_WHERE
#define KK_EMBEDDING_BACKWARD_CONTRACT \
  "(d_out: T[..., D], table: T[V, D], indices: I[...]) -> (d_table: T[V, D] sum) " KK_EMBEDDING_WHERE
