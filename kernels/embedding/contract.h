// embedding's contract: one text for every device.
#pragma once

#define KK_EMBEDDING_WHERE \
  "where T in {f32, f64, f16, bf16}, I in {i32, i64} with graph_safe, deterministic, independent(D)"
// The index whose row of the table is a constant: none, if negative.
#define KK_PADDING "*, padding_idx: int = -1"
#define KK_EMBEDDING_CONTRACT \
  "(table: T[V, D], indices: I[...], " KK_PADDING ") -> (out: T[..., D]) " KK_EMBEDDING_WHERE ", invariant(batch)"
#define KK_EMBEDDING_JVP_CONTRACT \
  "(t_table: T[V, D], indices: I[...], " KK_PADDING ") -> (t_out: T[..., D]) " KK_EMBEDDING_WHERE
#define KK_EMBEDDING_BACKWARD_CONTRACT \
  "(d_out: T[..., D], table: T[V, D], indices: I[...], " KK_PADDING ") -> (d_table: T[V, D] sum) " KK_EMBEDDING_WHERE
