// embedding's contract: one text for every device.
#pragma once

#define KK_EMBEDDING_WHERE "where T in {f32, f64, f16, bf16}, I in {i32, i64} with deterministic, independent(D)"
#define KK_EMBEDDING_CONTRACT "(table: T[V, D], indices: I[...]) -> (out: T[..., D]) " KK_EMBEDDING_WHERE
