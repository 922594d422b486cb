import numpy as np

heat = np.zeros((64, 96))
heat[20:40, 30:60] = 1

inside, before, behind = np.s_[1:-1], np.s_[:-2], np.s_[2:]
for step in range(200):
    heat[inside, inside] = heat[inside, inside] + 0.2 * (
        heat[before, inside] + heat[behind, inside] + heat[inside, before]
        + heat[inside, behind] - 4 * heat[inside, inside])

warm = heat > 0.5
print("total", heat.sum())
print("warm_cells", warm.sum())
heat[~warm] = 0
print("warm_total", heat.sum())
