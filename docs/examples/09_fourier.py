import numpy as np

n = 32
x = np.arange(n) / n
density = (np.exp(np.cos(2 * np.pi * x[:, None, None]))
           * np.sin(2 * np.pi * x[:, None]) * np.cos(2 * np.pi * x)**2)

spectrum = np.fft.rfftn(density)
print("power", np.sum(np.abs(spectrum)**2))

k, half = 2 * np.pi * np.fft.fftfreq(n, 1 / n), 2 * np.pi * np.fft.rfftfreq(n, 1 / n)
k2 = k[:, None, None]**2 + k[:, None]**2 + half**2
spectrum *= np.where(k2 > 0, -1 / np.maximum(k2, 1), 0)
potential = np.fft.irfftn(spectrum, (n, n, n), (0, 1, 2))

print("deepest", potential.min())
print("element", potential[1, 2, 3])
