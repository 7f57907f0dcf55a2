// The code of one iteration of a loop over rows and a loop over columns, run for a tile of them: every statement for the
// whole tile before the next, with what it computes in registers.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_TILE_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_TILE_H_

#include <kernpack/sdk/ir/stmt.h>

#include <map>

namespace kernpack::sdk::ir {

struct TileShape {
  int64_t rows, vectors;
  int lanes;
  int64_t columns() const { return vectors * lanes; }
};

// The iterations of which a tile is made; `row` may be null.
struct TileLoops {
  Var row, column;
  // Memory of which an iteration accesses one element: it is in a register from the first access to the last.
  struct Kept {
    std::vector<Expr> indices;
    bool is_read;  // before it is written
  };
  std::map<Buffer, Kept> kept;
};

// The tile that begins at these iterations. limit (may be empty): columns from there on are left out.
Block MakeTile(const TileLoops& loops, const Block& body, const TileShape& shape, const Expr& first_row,
               const Expr& first_column, const Expr& limit);

bool ReadsMemory(const Expr& e);

// Partial results that a reduction needs: fewer where it is known to be short, which changes no bit.
int PartialResults(const ExprNode& reduce);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_TILE_H_
