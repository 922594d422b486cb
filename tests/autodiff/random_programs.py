#!/usr/bin/env python3
"""Random programs of 3 to 8 statements with JAX's values and gradients, for autodiff_random_programs_test.

usage: random_programs.py FILE [--programs N] [--seed S]

Needs JAX. random_programs.txt beside this file is what `random_programs.py random_programs.txt --programs 120 --seed 1`
writes; the test reads another file if COIR_JAX_PROGRAMS names one.

A program has two arguments, vectors of n numbers, and each statement makes another vector of n numbers of two that are
there. Statements are numbered as in random_programs_test.cpp. Left out are programs at a kink, where another order of
rounding may give another derivative, and those with numbers above 1000, whose rounding errors grow.
"""

import argparse
import random

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def waves(k, n):
    return jnp.asarray(np.sin(0.7 + 1.3 * np.arange(n) + 0.9 * k))


def matrix(u):
    """A well-conditioned matrix made of a vector."""
    n = len(u)
    return jnp.eye(n) + jnp.outer(jnp.sin(u), waves(4, n)) / n


def symmetric(u):
    n = len(u)
    return jnp.diag(jnp.arange(n, dtype=float)) + jnp.outer(jnp.tanh(u), jnp.tanh(u))


def held(n):
    return np.arange(n) % 3 != 1


def compressed(u):
    some = u[np.nonzero(held(len(u)))[0]]
    return jnp.pad(some, (0, len(u) - len(some)))


def softmax(u):
    e = jnp.exp(u - jnp.max(u))
    return e / jnp.sum(e)


def two_quantiles(u):
    q = jnp.quantile(u, jnp.array([0.2, 0.7]))
    return u * q[0] + q[1]


def cholesky(u):
    a = matrix(u)
    return jnp.linalg.cholesky(a @ a.T)


STATEMENTS = [
    lambda u, v, k, n: u + v,
    lambda u, v, k, n: u * v,
    lambda u, v, k, n: u / (2 + v * v),
    lambda u, v, k, n: jnp.sin(u),
    lambda u, v, k, n: jnp.exp(-u * u),
    lambda u, v, k, n: jnp.tanh(u) * v,
    lambda u, v, k, n: jnp.sqrt(1 + u * u),
    lambda u, v, k, n: jnp.log(2 + u * u),
    lambda u, v, k, n: jnp.where(u > v, u * u, 0.5 * v),
    lambda u, v, k, n: jnp.maximum(u, v),
    lambda u, v, k, n: jnp.roll(u, k),
    lambda u, v, k, n: jnp.flip(u),
    lambda u, v, k, n: jnp.cumsum(u) / n,
    lambda u, v, k, n: jnp.cumprod(jnp.sin(u)),
    lambda u, v, k, n: jnp.cumprod(jnp.where(held(n), jnp.cos(u), 0)),
    lambda u, v, k, n: u[(np.arange(n) ** 2 + k) % n],
    lambda u, v, k, n: jnp.repeat(u, 2)[k % n : k % n + n],
    lambda u, v, k, n: jnp.pad(u, (1, 2), mode="symmetric")[k % 3 : k % 3 + n],
    lambda u, v, k, n: jnp.pad(u, (2, 1), mode="wrap")[k % 3 : k % 3 + n],
    lambda u, v, k, n: jnp.pad(u, (1, 0))[:n],
    lambda u, v, k, n: jnp.sort(u),
    lambda u, v, k, n: u - jnp.median(u),
    lambda u, v, k, n: v * jnp.quantile(u, 0.3),
    lambda u, v, k, n: two_quantiles(u),
    lambda u, v, k, n: compressed(u),
    lambda u, v, k, n: u.at[1:].set(v[:-1]).at[0].add(u[-1]),
    lambda u, v, k, n: u.at[::2].multiply(v[::2]),
    lambda u, v, k, n: softmax(u),
    lambda u, v, k, n: u - jnp.mean(u),
    lambda u, v, k, n: u / (1 + jnp.linalg.norm(v)),
    lambda u, v, k, n: u * jnp.var(v),
    lambda u, v, k, n: u * jnp.prod(1 + 0.1 * jnp.sin(v)),
    lambda u, v, k, n: u + jnp.min(v),
    lambda u, v, k, n: jnp.linalg.solve(matrix(u), v),
    lambda u, v, k, n: matrix(u) @ v,
    lambda u, v, k, n: v * jnp.linalg.det(matrix(u)),
    lambda u, v, k, n: jnp.linalg.inv(matrix(u)) @ v,
    lambda u, v, k, n: cholesky(u) @ jnp.sin(v),
    lambda u, v, k, n: jnp.linalg.eigvalsh(symmetric(u)) / n * v,
    lambda u, v, k, n: jnp.square(jnp.linalg.eigh(symmetric(u))[1]) @ v,
    lambda u, v, k, n: jnp.einsum("ij,j->i", matrix(u), v),
    lambda u, v, k, n: jnp.einsum("ij,kj->ik", jnp.outer(u, v), matrix(v))[:, k % n] / n,
    lambda u, v, k, n: jnp.concatenate([u[n // 2 :], v[: n // 2]]),
    lambda u, v, k, n: jnp.tile(u, 2)[k % n : k % n + n],
    lambda u, v, k, n: jnp.pad(jnp.diff(u), (1, 0)),
    lambda u, v, k, n: jnp.sum(jnp.sort(jnp.outer(u, waves(4, n)), 0), 1) / n,
    lambda u, v, k, n: jnp.sum(jnp.cumprod(jnp.cos(jnp.outer(u, v)), 1), 0) / n,
    lambda u, v, k, n: jnp.log(jnp.sum(jnp.exp(jnp.outer(jnp.sin(u), waves(4, n))), 1)),
    lambda u, v, k, n: jnp.max(jnp.stack([u, v]), 0),
    lambda u, v, k, n: jax.lax.stop_gradient(u) * v,
    lambda u, v, k, n: v[jnp.argsort(u)],
]


def run(program, x, y):
    names = [x, y]
    for code, a, b, k in program:
        names.append(STATEMENTS[code](names[a], names[b], k, len(x)))
    return names


def loss(program, x, y):
    return jnp.sum(run(program, x, y)[-1] * waves(5, len(x)))


def random_program(draw):
    program = []
    for _ in range(draw.randint(3, 8)):
        last = len(program) + 1
        a = draw.choice([last, draw.randint(0, last)])
        program.append((draw.randrange(len(STATEMENTS)), a, draw.randint(0, last), draw.randint(0, 20)))
    return program


def answer(program, x, y):
    if any(not np.all(np.abs(u) < 1000) for u in run(program, x, y)):
        return None
    differentiated = jax.value_and_grad(lambda *at: loss(program, *at), argnums=(0, 1))
    value, slopes = differentiated(x, y)
    _, nearby = differentiated(x + 1e-9 * waves(6, len(x)), y + 1e-9 * waves(7, len(x)))
    scale = max(1, *(np.max(np.abs(s)) for s in slopes))
    if not all(np.all(np.isfinite(s)) for s in slopes):  # JAX's norm has no derivative at 0, coir's has 0
        return None
    if not scale < 1000 or any(np.max(np.abs(s - t)) > 1e-5 * scale for s, t in zip(slopes, nearby)):
        return None
    return value, slopes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--programs", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    written = 0
    with open(given.file, "w", encoding="ascii") as out:
        while written < given.programs:
            n, program = draw.choice([1, 2, 5, 7, 12]), random_program(draw)
            found = answer(program, waves(0, n), waves(1, n))
            if found is None:
                continue
            value, slopes = found
            print(n, len(program), *(number for statement in program for number in statement), file=out)
            print(float(value), *(float(s) for slope in slopes for s in slope), file=out)
            written += 1


main()
