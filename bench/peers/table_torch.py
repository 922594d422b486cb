"""PyTorch: whole-array operations on a CUDA device where there is one, into existing arrays where the row allows it."""

import os

import numpy as np
import torch

import job
from rows import ITERATIONS, cube, line, main, matrix, pixels, row, rows_of_angles, unsorted

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.backends.cuda.matmul.allow_tf32 = False  # float32 products in float32
if device.type == "cpu" and hasattr(os, "sched_getaffinity"):
    torch.set_num_threads(len(os.sched_getaffinity(0)))  # by default it leaves out every second thread of a core


def tensor(array):
    return torch.from_numpy(array).to(device)


@row("x+=3")
def add_number(n):
    x = torch.zeros(n, device=device)
    return lambda: x.add_(3)


@rows_of_angles(np)
def cosine_and_sine(on_host):
    x = tensor(on_host)
    y, t = torch.empty_like(x), torch.empty_like(x)

    def statement():
        torch.cos(x, out=y)
        y.square_()
        torch.sin(x, out=t)
        t.square_()
        return y.add_(t)

    return statement


@row("a+b")
def add_arrays(n):
    a, b = tensor(line(np, 0, 1, n)), tensor(line(np, 1, 2, n))
    return lambda: a + b


@row("a+b,preallocated")
def add_arrays_in_place(n):
    a, b = tensor(line(np, 0, 1, n)), tensor(line(np, 1, 2, n))
    c = torch.empty_like(a)
    return lambda: torch.add(a, b, out=c)


@row("selu")
def selu(n):
    x = tensor(line(np, -3, 3, n))
    return lambda: 1.05 * torch.where(x > 0, x, 1.67 * torch.exp(x) - 1.67)


@row("chain")
def chain(n):
    a, b, c, d = (tensor(line(np, i, i + 1, n, "float64")) for i in range(4))
    y = torch.empty_like(a)

    def statement():
        torch.mul(a, b, out=y)
        return y.add_(c).mul_(0.5).sub_(d).mul_(a)

    return statement


@row("sum,array")
def sum_to_array(n):
    return tensor(line(np, 0, 1, n)).sum


@row("max,array")
def max_to_array(n):
    return tensor(line(np, 0, 1, n)).max


@row("any,array")
def any_to_array(n):
    x = tensor(line(np, 0, 1, n))
    return lambda: (x > 2).any()


def to_number(reduction):
    def prepare(n):
        to_array = reduction(n)
        return lambda: to_array().item()

    return prepare


row("sum")(to_number(sum_to_array))
row("max")(to_number(max_to_array))
row("any")(to_number(any_to_array))


@row("sort,float")
def sort(n):
    x = tensor(unsorted(np, n))
    return lambda: torch.sort(x).values


@row("argsort,float")
def sorting_indices(n):
    x = tensor(unsorted(np, n))
    return lambda: torch.argsort(x)


@row("sort,rows,float")
def sort_rows(n):
    x = tensor(unsorted(np, n)).reshape(-1, 1024)
    return lambda: torch.sort(x).values


@row("cumsum,float")
def cumulative_sum(n):
    x = tensor(line(np, 0, 1, n))
    return lambda: torch.cumsum(x, 0)


@row("uniform,float")
def uniform_numbers(n):
    torch.manual_seed(1)
    x = torch.empty(n, device=device)
    return lambda: x.uniform_()


@row("normal")
def normal_numbers(n):
    torch.manual_seed(1)
    x = torch.empty(n, device=device)
    return lambda: x.normal_()


@row("matmul,double")
def square(n):
    a = tensor(matrix(np, n, n, "float64"))
    b, c = a.clone(), torch.empty_like(a)
    return lambda: torch.matmul(a, b, out=c)


@row("matmul,double,new")
def new_square(n):
    a = tensor(matrix(np, n, n, "float64"))
    b = a.clone()
    return lambda: a @ b


@row("matmul,float")
def square_in_single(n):
    a = tensor(matrix(np, n, n, "float32"))
    b, c = a.clone(), torch.empty_like(a)
    return lambda: torch.matmul(a, b, out=c)


@row("x xT,float")
def by_own_transpose(n):
    x = tensor(matrix(np, n, n, "float32"))
    return lambda: x @ x.T


@row("matvec,float")
def many_vectors(k):
    x, w = tensor(matrix(np, k, 100, "float32")), tensor(matrix(np, 150, 100, "float32"))
    return lambda: x @ w.T


def points(n):
    x, y = pixels(np, n)
    return tensor((x + 1j * y).astype(np.complex64))


@row("mandelbrot")
def mandelbrot(n):
    c = points(n).ravel()

    def statement():
        counts = torch.full((n * n,), ITERATIONS, dtype=torch.int32, device=device)
        at, here, z = torch.arange(n * n, device=device), c, torch.zeros_like(c)
        for step in range(ITERATIONS):  # on the pixels that are still there
            inside = z.real * z.real + z.imag * z.imag <= 4
            if not inside.all():
                counts[at[~inside]] = step
                at, here, z = at[inside], here[inside], z[inside]
            z = z * z + here
        return counts.reshape(n, n)

    return statement


@row("mandelbrot,arrays")
def mandelbrot_arrays(n):
    c = points(n)

    def statement():
        z, counts = torch.zeros_like(c), torch.zeros(c.shape, dtype=torch.int32, device=device)
        for _ in range(ITERATIONS):
            small = z.real * z.real + z.imag * z.imag <= 4
            z = torch.where(small, z * z + c, z)
            counts += small
        return counts

    return statement


@row("jacobi,statement")
def jacobi(m, n):
    b = torch.ones((m, n), device=device)
    u, v = torch.zeros((m + 2, n + 2), device=device), torch.zeros((m + 2, n + 2), device=device)

    def statement():
        nonlocal u, v
        inside = v[1:-1, 1:-1]
        torch.add(u[:-2, 1:-1], u[2:, 1:-1], out=inside)
        inside.add_(u[1:-1, :-2]).add_(u[1:-1, 2:]).sub_(b).mul_(0.25)
        u, v = v, u
        return u

    return statement


def transform(dtype):
    def prepare(n):
        x = tensor(cube(np, n, dtype))
        return lambda: torch.fft.rfftn(x)

    return prepare


row("r2c,float")(transform("float32"))
row("r2c,double")(transform("float64"))


@row("c2r,float")
def transform_back(n):
    y = torch.fft.rfftn(tensor(cube(np, n, "float32")))
    return lambda: torch.fft.irfftn(y, (n, n, n), norm="forward")


def wait(_):
    if device.type == "cuda":
        torch.cuda.synchronize()


main(
    "torch",
    torch.__version__,
    torch.cuda.get_device_name(0) if device.type == "cuda" else job.cpu_name(),
    wait,
    lambda result: result.cpu().numpy() if isinstance(result, torch.Tensor) else result,
)
