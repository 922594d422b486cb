import numpy as np

i, j = np.arange(300)[:, None], np.arange(400)
wave = np.sin(0.02 * i) * np.cos(0.01 * j)

print("energy", (wave**2).sum())
print("element", wave[100, 200])
