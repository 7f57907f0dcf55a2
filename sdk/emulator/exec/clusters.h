// Clusters: blocks that run together, see each other's shared memory and have a barrier in common.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_CLUSTERS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_CLUSTERS_H_

#include <cstdint>

#include "exec/block.h"

namespace kernpack::emulator {

// How many blocks of the launch run together.
uint32_t RunTogether(const Launch& launch);
// The rank of the warp's block in its cluster.
uint32_t ClusterRank(const Warp& warp);

// Where in Block::shared the memory of the block begins whose rank an address from mapa names. Throws Fault if the cluster has no
// such block, or that block has ended.
uint64_t GetSharedBase(const Warp& warp, const Instruction& instruction, uint32_t lane, uint64_t address);

// barrier.cluster.arrive.
void ArriveAtCluster(Warp* warp, const Instruction& instruction, uint32_t mask);
// barrier.cluster.wait; false when the lanes have to wait.
bool PassCluster(Warp* warp, const Instruction& instruction, uint32_t mask);
// Once nothing can run: lets those go on who wait for a cluster of which every thread has arrived or ended. False: there are none.
bool OpenCluster(Block* block);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_CLUSTERS_H_
