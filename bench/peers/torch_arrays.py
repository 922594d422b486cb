"""PyTorch: the same array operations as NumPy's, on a CUDA device where there is one."""

import os
import time

import numpy as np
import torch

import job

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if device.type == "cpu" and hasattr(os, "sched_getaffinity"):
    torch.set_num_threads(len(os.sched_getaffinity(0)))


def wait():
    if device.type == "cuda":
        torch.cuda.synchronize()


def sweep(u, v, b):
    inside = v[1:-1, 1:-1]
    torch.add(u[:-2, 1:-1], u[2:, 1:-1], out=inside)
    inside.add_(u[1:-1, :-2]).add_(u[1:-1, 2:]).sub_(b).mul_(0.25)


def solve(source, sweeps):
    b = torch.from_numpy(source).to(device)
    u = torch.from_numpy(np.pad(source, 1)).to(device)
    v = torch.zeros_like(u)
    wait()
    start = time.perf_counter()
    for _ in range(sweeps):
        sweep(u, v, b)
        u, v = v, u
    wait()
    seconds = time.perf_counter() - start
    return u[1:-1, 1:-1].cpu().numpy(), seconds


on_cpu = device.type == "cpu"
job.main(
    "torch",
    torch.__version__,
    device.type,
    job.cpu_name() if on_cpu else torch.cuda.get_device_name(0),
    torch.get_num_threads() if on_cpu else None,
    solve,
)
