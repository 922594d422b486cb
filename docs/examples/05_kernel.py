import numpy as np

particles, cells = 100_000, 64
position = cells * np.fmod(0.618033988749895 * np.arange(particles), 1)

density = np.zeros(cells)
cell = position.astype(int)
right = position - cell
np.add.at(density, cell, 1 - right)
np.add.at(density, (cell + 1) % cells, right)

density *= cells / particles
print("mean", density.mean())
print("largest", density.max())
print("first", density[0])

# CuPy has a kernel of one's own, too, written in CUDA C:
#   deposit = cp.ElementwiseKernel("float64 x, int64 cells", "raw float64 density", """
#       long long cell = x;
#       atomicAdd(&density[cell], 1 - (x - cell));
#       atomicAdd(&density[(cell + 1) % cells], x - cell);""", "deposit")
