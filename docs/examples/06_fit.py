import numpy as np

t = np.linspace(0, 1, 200)
y = 1 - 3 * t + 2 * t**2 + 0.01 * np.sin(1000 * t)
powers = np.stack((np.ones_like(t), t, t**2), axis=1)

fit, residuals, rank, singular_values = np.linalg.lstsq(powers, y, rcond=None)
misfit = y - powers @ fit

for k in range(3):
    print(f"power_{k}", fit[k])
print("misfit", np.linalg.norm(misfit))
print("rank", rank)
