import numpy as np

n = 1 << 20
source = np.fmod(np.float32(0.618) * np.arange(n, dtype=np.float32), np.float32(1))
target = source.copy()
x = np.ones(n // 8, np.float32)
x = np.float32(0.5) * (x + np.sin(x) ** 2 + np.cos(x) ** 2)

print("copied", target[:1000].sum(dtype=float))
print("fixed_point", x.max(), "+- 1e-6")

# CuPy, with copies and kernels on streams of their own:
#   source = cupyx.empty_pinned(n, np.float32)
#   copies, kernels = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
#   target.set(source, stream=copies)
#   with kernels:
#       x[:] = 0.5 * (x + cp.sin(x) ** 2 + cp.cos(x) ** 2)
#   copies.synchronize(); kernels.synchronize()
