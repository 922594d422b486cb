import numpy as np

x = np.linspace(-3, 3, 1_000_001)
y = 1.05 * np.where(x > 0, x, 1.67 * np.exp(x) - 1.67)

rows, columns = np.arange(3.0), np.arange(4.0)
table = 10 * rows[:, None] + columns

print("mean", y.mean())
print("largest_change", np.abs(y - x).max())
print("corner", table[2, 3])
print("column_sum", table.sum(0)[1])
