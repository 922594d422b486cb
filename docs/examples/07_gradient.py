import numpy as np

# NumPy has no derivatives: these are by hand. JAX's: jax.value_and_grad(lambda x: jnp.sum((jnp.cos(x) - data)**2)).
data = np.linspace(-0.5, 0.5, 1000)


def loss(x):
    return np.sum((np.cos(x) - data)**2), -2 * (np.cos(x) - data) * np.sin(x)


x = np.ones(1000)
for step in range(20):
    value, slope = loss(x)
    x -= 0.2 * slope
left, slope = loss(x)

a, b = -1.0, 2.0
print("loss", left, "+-", 1e-9)
print("slope", np.linalg.norm(slope), "+-", 1e-7)
print("first", x[0])
print("by_a", -2 * (1 - a) - 400 * a * (b - a * a))
print("by_b", 200 * (b - a * a))
