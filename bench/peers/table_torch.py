"""PyTorch: whole-array operations on a CUDA device where there is one, into existing arrays where the row allows it."""

import os

import torch

import job
from rows import ITERATIONS, main, row
from whole_arrays import add_rows

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.backends.cuda.matmul.allow_tf32 = False  # float32 products in float32
if device.type == "cpu" and hasattr(os, "sched_getaffinity"):
    torch.set_num_threads(len(os.sched_getaffinity(0)))  # by default it leaves out every second thread of a core

add_rows(torch, row, lambda x: torch.sort(x).values, is_device=True)


@row("uniform,float")
def uniform_numbers(x):
    torch.manual_seed(1)
    return x.uniform_


@row("normal")
def normal_numbers(x):
    torch.manual_seed(1)
    return x.normal_


@row("mandelbrot")
def mandelbrot(c):
    def statement():
        counts = torch.full((c.numel(),), ITERATIONS, dtype=torch.int32, device=device)
        here = c.ravel()
        at, z = torch.arange(c.numel(), device=device), torch.zeros_like(here)
        for step in range(ITERATIONS):  # on the pixels that are still there
            inside = z.real * z.real + z.imag * z.imag <= 4
            if not inside.all():
                counts[at[~inside]] = step
                at, here, z = at[inside], here[inside], z[inside]
            z = z * z + here
        return counts.reshape(c.shape)

    return statement


def wait(_):
    if device.type == "cuda":
        torch.cuda.synchronize()


main(
    "torch",
    torch.__version__,
    torch.cuda.get_device_name(0) if device.type == "cuda" else job.cpu_name(),
    lambda array: torch.from_numpy(array).to(device),
    wait,
    lambda result: result.cpu().numpy() if isinstance(result, torch.Tensor) else result,
)
