"""Input files, whole and damaged."""

import datetime
import json
import pathlib
import re
import struct
import zlib


def png(rng, rows, columns):
    """A picture of a random kind, and where its parts begin."""
    bits = rng.choice([8, 16])
    kind, channels = rng.choice([(0, 1), (2, 3), (4, 2), (6, 4)])
    line = columns * channels * bits // 8
    pixels = b"".join(b"\0" + rng.randbytes(line) for _ in range(rows))
    return png_of(struct.pack(">IIBBBBB", columns, rows, bits, kind, 0, 0, 0), zlib.compress(pixels))


def png_of(header, data):
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def npy_of(header, data):
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin1") + data


def npy(rng, shape, kind=None):
    """An array of plain numbers; of bytes it has more kinds."""
    count = 1
    for length in shape:
        count *= length
    kind = kind or rng.choice(["<f4", "<f8", "|u1", "<i4", "<u2"])
    if kind in ("<f4", "<f8"):
        data = struct.pack(f"<{count}{'f' if kind == '<f4' else 'd'}", *[rng.gauss(0, 1) for _ in range(count)])
    else:
        data = rng.randbytes(count * int(kind[2]))
    order = rng.choice(["False", "False", "True"])
    return npy_of(f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {tuple(shape)!r}, }}", data)


def damaged(rng, data):
    """Bits turned, parts cut out, zeroed, doubled or swapped."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at, length = rng.randrange(len(data) + 1), rng.choice([1, 2, 4, 16, 100])
        match rng.randrange(7):
            case 0 | 1 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 2:
                del data[at:]
            case 3:
                data[at:at + length] = bytes(len(data[at:at + length]))
            case 4:
                data[at:at] = rng.randbytes(length)
            case 5:
                data[at:at] = data[at:at + length]
            case _:
                del data[at:at + length]
        if not data:
            break
    return bytes(data)


def with_checksum(data):
    """A checkpoint with the end that coir/io/checksum.hpp describes."""
    data += b"coir checksum 2\n" + struct.pack("<Q", len(data))
    return data + struct.pack("<Q", zlib.crc32(data))


def power_table(rng):
    lines = ["# k P"]
    for n in range(60):
        k = 10 ** (-4 + n / 10)
        lines.append(f"{k:.6g} {2e4 * k / (1 + (k / 0.02) ** 2.5):.6g}")
    return "\n".join(lines).encode() + b"\n"


def configuration(rng):
    """TOML for coir-nbody that is right."""
    lines = ["# a universe", "", "box = %g" % rng.uniform(20, 300), "seed = %d" % rng.randrange(1000),
             'stepper = "%s"' % rng.choice(["fastpm", "plain", "bullfrog"]), "deterministic = " + rng.choice(["true", "false"]),
             "omega-m = 0.3", "h = 0.7  # small", "kernel = '1_4'", "scale-factors = [0.1,  # early\n  0.5,\n  1]",
             "pictures = false", "outputs = []"]
    rng.shuffle(lines)
    end = rng.choice(["\n", "\r\n"])
    return rng.choice([b"", b"\xef\xbb\xbf"]) + end.join("\n".join(lines).split("\n")).encode() + rng.choice([b"", b"\n"])


ACCOUNTING = "JobID|Partition|User|Submit|Eligible|Start|State|Elapsed|Timelimit|ReqCPUS|ReqMem|ReqTRES"


# What coir-info --measure --json prints of cores and of a device, as far as coir-offload reads it.
limits_of_cores = """{"application": "coir-info", "limits": {"copy_bytes_per_second": 1e9, "launch_seconds": 1e-06}}
"""
limits_of_device = """{"application": "coir-info", "limits": {"copy_bytes_per_second": 2e10, "launch_seconds": 5e-06,
"host_to_device_bytes_per_second": 1e10, "device_to_host_bytes_per_second": 1.2e10}}
"""


def comparison():
    """A report of coir-compare in which nothing was measured."""
    source = pathlib.Path(__file__).parents[2] / "apps/compare/comparison.hpp"
    form = int(re.search(r"report_format = (\d+)", source.read_text())[1])
    return json.dumps({"application": "coir-compare", "version": "0", "format": form, "machines": [], "works": [], "rows": [], "left_out": []})


def accounting(rng, jobs=None):
    """What sacct -P writes, of jobs that nobody has run."""
    lines = [ACCOUNTING]
    submit = datetime.datetime(2025, 1, 1)
    for n in range(1, jobs or rng.choice([2, 30, 300])):
        submit += datetime.timedelta(seconds=rng.randrange(9000))
        start = submit + datetime.timedelta(seconds=int(rng.lognormvariate(5, 3)))
        cores, gpus = 2 ** rng.randrange(8), rng.randrange(5)
        lines.append(f"{n}|{rng.choice(['cpu', 'gpu', 'debug'])}|user{n % 7}|{submit.isoformat()}|{submit.isoformat()}|{start.isoformat()}|"
                     f"{rng.choice(['COMPLETED', 'RUNNING', 'TIMEOUT'])}|00:10:00|1-00:00:00|{cores}|{cores}G|"
                     f"billing={cores},cpu={cores},gres/gpu={gpus},mem={cores}G,node=1")
        if rng.random() < 0.5:
            lines.append(f"{n}.batch||||||COMPLETED|00:10:00||{cores}||")
    return "\n".join(lines).encode() + b"\n"


def forged_accounting(rng):
    """Rows whose fields are what no field should be."""
    odd = ["", "0", "-1", "99999999999999999999", "9999-12-31T23:59:59", "2023-02-29T00:00:00", "1970-01-01T00:00:00+14:00", "2199-12-31T23:59:59",
           "999999-23:59:59", "1e308", "nan", "999999999999999999E", "1000000000", "cpu=1000000000,node=1000000000,gres/gpu=1000000000", "cpu=",
           "gres/gpu:" + "x" * 5000 + "=1", "gpu:1000000000," * 20, ",", "x" * 3000, "\x1b[2J", "\0", "a/b/c", "\xe9", "JobID", "JobID|Start",
           "1_[1-9%2]", "1+0", "1+1", "1.", "None", "Unknown", "CANCELLED by 1", "PENDING", "RUNNING", "\r", "\t", "\n", "\r\n" * 50, "'", "%s%n"]
    lines = accounting(rng).decode().split("\n")
    if rng.random() < 0.3:
        lines[0] = rng.choice([lines[0] + "|", lines[0].upper(), lines[0].replace("|", ";"), "\ufeff" + lines[0], lines[0] + "|ReqGRES|NNodes",
                               "JobID|Partition", lines[0].replace("|", " "), "", "Start|" * 1000 + lines[0], lines[0][7:]])
    for _ in range(rng.choice([1, 5, 50])):
        at = rng.randrange(1, len(lines))
        fields = lines[at].split("|")
        fields[rng.randrange(len(fields))] = rng.choice(odd)
        lines[at] = "|".join(fields)
    if rng.random() < 0.1:
        lines.insert(rng.randrange(len(lines)), rng.choice("x|J\0") * rng.choice([2**20 - 1, 2**20, 3_000_000]))
    return "\n".join(lines).encode()
