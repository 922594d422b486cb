#!/usr/bin/env python3
"""Programs of split arrays with JAX's values and gradients, for sharded_split_programs_test.

usage: split_programs.py FILE [--programs N] [--seed S]

Needs JAX. split_programs.txt beside this file is what `split_programs.py split_programs.txt` writes. First there is a
program of one statement for each statement, then N random ones of 3 to 8 statements.

A program has two arguments, square matrices, and each statement makes another one of two that are there. Statements are
numbered as in split_programs_test.cpp. Of a gradient the sum of its products with waves() is written. Left out are
programs at a kink, and those with numbers above 1000.
"""

import argparse
import random

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf

jax.config.update("jax_enable_x64", True)


def waves(k, *shape):
    return jnp.asarray(np.sin(0.7 + 1.3 * np.arange(np.prod(shape)) + 0.9 * k)).reshape(shape)


def neighbours(u):
    """u[i - 1] and u[i + 1] along axis 0, zero beyond the ends."""
    padded = jnp.pad(u, ((1, 1), (0, 0)))
    return padded[:-2], padded[2:]


STATEMENTS = [
    lambda u, v, k, n: u + v,
    lambda u, v, k, n: u - v,
    lambda u, v, k, n: u * v,
    lambda u, v, k, n: u / (2 + v * v),
    lambda u, v, k, n: -u,
    lambda u, v, k, n: jnp.sqrt(1 + u * u),
    lambda u, v, k, n: jnp.exp(-u * u),
    lambda u, v, k, n: jnp.log(2 + u * u),
    lambda u, v, k, n: jnp.log10(2 + u * u),
    lambda u, v, k, n: jnp.sin(u),
    lambda u, v, k, n: jnp.cos(u),
    lambda u, v, k, n: jnp.tan(0.5 * jnp.tanh(u)),
    lambda u, v, k, n: jnp.arcsin(0.9 * jnp.tanh(u)),
    lambda u, v, k, n: jnp.arccos(0.9 * jnp.tanh(u)),
    lambda u, v, k, n: jnp.arctan(u),
    lambda u, v, k, n: jnp.sinh(jnp.tanh(u)),
    lambda u, v, k, n: jnp.cosh(jnp.tanh(u)),
    lambda u, v, k, n: jnp.tanh(u),
    lambda u, v, k, n: jnp.cbrt(2 + u * u),
    lambda u, v, k, n: jnp.expm1(jnp.tanh(u)),
    lambda u, v, k, n: jnp.log2(2 + u * u),
    lambda u, v, k, n: jnp.log1p(u * u),
    lambda u, v, k, n: erf(u),
    lambda u, v, k, n: jnp.arctan2(u, 2 + v * v),
    lambda u, v, k, n: jnp.hypot(u, 1 + v * v),
    lambda u, v, k, n: jnp.power(2 + u * u, jnp.tanh(v)),
    lambda u, v, k, n: jnp.minimum(u, v),
    lambda u, v, k, n: jnp.maximum(u, v),
    lambda u, v, k, n: jnp.clip(u, -0.5, 0.5),
    lambda u, v, k, n: jnp.where(u > v, u * u, 0.5 * v),
    lambda u, v, k, n: jnp.square(u),
    lambda u, v, k, n: jnp.abs(u),
    lambda u, v, k, n: u * jnp.sum(v) / n,
    lambda u, v, k, n: u - jnp.mean(v),
    lambda u, v, k, n: u * jnp.sum(u * v) / n**2,
    lambda u, v, k, n: u / (1 + jnp.linalg.norm(v)),
    lambda u, v, k, n: u * jnp.var(v),
    lambda u, v, k, n: u * jnp.sum(v, 1, keepdims=True) / n,
    lambda u, v, k, n: u - jnp.mean(v, 1, keepdims=True),
    lambda u, v, k, n: jnp.roll(u, k, 1),
    lambda u, v, k, n: jnp.roll(u, k, 0),
    lambda u, v, k, n: v * jnp.roll(u, -k, (0, 1)),
    lambda u, v, k, n: 0.25 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2 * u),
    lambda u, v, k, n: neighbours(u)[0] - 0.5 * neighbours(u)[1],
    lambda u, v, k, n: u * jnp.sin(v),
    lambda u, v, k, n: u * waves(4, n, n),
    lambda u, v, k, n: (u @ v) / n,
    lambda u, v, k, n: (u @ waves(4, n, n)) / n,
    lambda u, v, k, n: u * waves(4, n),
    lambda u, v, k, n: jnp.cumsum(u, 1) / n,
]


def run(program, x, y):
    names = [x, y]
    for code, a, b, k in program:
        names.append(STATEMENTS[code](names[a], names[b], k, len(x)))
    return names


def random_program(draw):
    program = []
    for _ in range(draw.randint(3, 8)):
        last = len(program) + 1
        a = draw.choice([last, draw.randint(0, last)])
        program.append((draw.randrange(len(STATEMENTS)), a, draw.randint(0, last), draw.randint(0, 20)))
    return program


def answer(program, n):
    """The value, and the gradients times waves()."""
    x, y = waves(0, n, n), waves(1, n, n)
    if any(not np.all(np.abs(u) < 1000) for u in run(program, x, y)):
        return None
    differentiated = jax.value_and_grad(lambda *at: jnp.sum(run(program, *at)[-1] * waves(5, n, n)), argnums=(0, 1))
    value, slopes = differentiated(x, y)
    _, nearby = differentiated(x + 1e-9 * waves(6, n, n), y + 1e-9 * waves(7, n, n))
    scale = max(1, *(np.max(np.abs(s)) for s in slopes))
    if not scale < 1000 or any(np.max(np.abs(s - t)) > 1e-5 * scale for s, t in zip(slopes, nearby)):
        return None
    return float(value), *(float(jnp.sum(s * waves(8 + at, n, n))) for at, s in enumerate(slopes))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--programs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    singles = [(5, [(code, 0, 1, 3)]) for code in range(len(STATEMENTS))]
    written = 0
    with open(given.file, "w", encoding="ascii") as out:
        while written < len(STATEMENTS) + given.programs:
            n, program = singles.pop(0) if singles else (draw.choice([1, 2, 5, 7]), random_program(draw))
            found = answer(program, n)
            if found is None:
                continue
            print(n, len(program), *(number for statement in program for number in statement), file=out)
            print(*found, file=out)
            written += 1


main()
