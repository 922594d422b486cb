import numpy as np

n = 1_000_000
rng = np.random.default_rng(42)
x, y, z = rng.random(n), rng.random(n), rng.normal(size=n)

counts, edges = np.histogram(z, 6, (-3, 3))
print("pi", 4 * np.mean(x**2 + y**2 < 1), "+-", 0.02)
print("deviation", z.std(), "+-", 0.01)
print("within_one", (counts[2] + counts[3]) / n, "+-", 0.01)
print("median", np.median(z), "+-", 0.01)
