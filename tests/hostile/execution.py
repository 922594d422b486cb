"""Runs a program under limits, and says what was wrong with how it ended."""

import dataclasses
import fcntl
import fnmatch
import hashlib
import json
import os
import resource
import shlex
import signal
import stat
import struct
import subprocess
import time

# What only a library or a runtime would say. "Kokkos" alone is the name of something users meet.
LIBRARY_WORDS = [
    "Kokkos::", "KokkosP", "std::", "CLI::", "stoi", "stol", "stod", "bad_alloc", "HDF5-DIAG", "H5F", "H5D", "libpng", "libgomp",
    "OMP: ", "terminate called", "what():", "vector::", "basic_string", "nlohmann", "json.exception", "exception", "regex_error",
    "filesystem error", "Assertion", "free()", "malloc", "_M_", "map::at", "unordered_map", "zlib", "Traceback", "runtime error",
    "Sanitizer", "Raised by", "errno", "nullptr", "loading shared libraries"]

CODES = {"info": {0, 2, 4, 6}, "escape": {0, 2, 4, 5, 6}, "jacobi": {0, 2, 3, 4, 5, 6}, "nbody": {0, 2, 3, 4, 5, 6}, "queue": {0, 2, 3, 4, 6},
         "offload": {0, 2, 3, 4}}


@dataclasses.dataclass
class Setting:
    """Around a program: its environment, streams, limits and user."""
    environment: dict = dataclasses.field(default_factory=dict)
    limits: dict = dataclasses.field(default_factory=dict)  # {"AS": bytes}
    closed: tuple = ()  # of the streams 0, 1, 2
    stdout: str = ""  # a path in place of a pipe
    folder: str = "."  # where it runs, below the folder of its files
    removes_folder: bool = False  # before it runs in it
    locks: str = ""  # a folder that another program writes to meanwhile
    user: int = None
    seconds: float = 120


@dataclasses.dataclass
class Outcome:
    code: int  # negative: the signal; None: it didn't end
    output: bytes
    errors: bytes
    seconds: float


def as_text(command):
    return " ".join(shlex.quote(part if isinstance(part, str) else os.fsdecode(part))[:300] for part in command)


def execute(command, setting, folder):
    environment = {"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "2", **setting.environment}
    environment = {name: value for name, value in environment.items() if value is not None}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH"):
        if name in os.environ:
            environment[name] = os.environ[name]
    if "ASAN_OPTIONS" in environment:
        environment["ASAN_OPTIONS"] += ":detect_leaks=0"  # other tests look for them; here processes are short
    place = os.path.join(folder, setting.folder)

    def prepare():
        os.chdir(place)
        if setting.removes_folder:
            os.rmdir(place)
        os.umask(0o022)
        if setting.user is not None:
            os.setgroups([])
            os.setgid(setting.user)
            os.setuid(setting.user)
        for name, value in setting.limits.items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for stream in setting.closed:
            os.close(stream)

    lock = None
    if setting.locks:
        lock = os.open(os.path.join(folder, setting.locks), os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
    stdout = open(setting.stdout, "wb") if setting.stdout else subprocess.PIPE
    start = time.monotonic()
    process = subprocess.Popen(command, env=environment, preexec_fn=prepare, stdin=subprocess.DEVNULL, stdout=stdout,
                               stderr=subprocess.PIPE, close_fds=True, start_new_session=True)
    try:
        output, errors = process.communicate(timeout=setting.seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        code = None
    if setting.stdout:
        stdout.close()
    if lock is not None:
        os.close(lock)
    return Outcome(code, output or b"", errors or b"", time.monotonic() - start)


def waits_before_it_begins(program, setting, folder):
    """OpenBLAS 0.3, which programs for devices load by way of Kokkos Kernels, waits without end where a limit leaves it too few addresses."""
    libraries = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True).stdout
    return "libopenblas" in libraries and execute([program, "--version"], dataclasses.replace(setting, seconds=10), folder).code is None


def contents(folder):
    """{relative path: what is there}"""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(place, name)
            state = os.lstat(path)
            key = os.path.relpath(path, folder)
            if stat.S_ISLNK(state.st_mode):
                found[key] = ("link", os.readlink(path))
            elif stat.S_ISREG(state.st_mode):
                try:
                    with open(path, "rb") as file:
                        found[key] = ("file", hashlib.sha256(file.read()).hexdigest())
                except PermissionError:
                    found[key] = ("file", "locked")
            else:
                found[key] = ("other", stat.S_IFMT(state.st_mode))
    return found


def is_whole(path):
    """Whether an output ends where it should."""
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".png"):
        return data.startswith(b"\x89PNG\r\n\x1a\n") and data.endswith(b"IEND\xaeB`\x82")
    if path.endswith(".npy"):
        header = data[10:10 + struct.unpack("<H", data[8:10])[0]].decode("latin1")
        layout = eval(header, {"__builtins__": {}})  # of a file that coir wrote
        count = 1
        for length in layout["shape"]:
            count *= length
        return len(data) == 10 + len(header) + count * int(layout["descr"][2:])
    if path.endswith(".json"):
        json.loads(data)
    if path.endswith(".hdf5"):
        return data.startswith(b"\x89HDF")
    return len(data) > 0


def faults_of(attack, outcome, before, folder):
    faults = []
    if outcome.code is None:
        return [f"it didn't end within {attack.setting.seconds:g} s"]
    errors = outcome.errors.decode(errors="replace")
    if outcome.code == 127 and {"AS", "DATA"} & set(attack.setting.limits) and any(
            words in errors for words in ("failed to map segment from shared object", "cannot create shared object descriptor")):
        return [] if contents(folder) == before else ["something changed though the program never began"]  # the limit holds less than its libraries
    if outcome.code < 0:
        faults.append(f"it was ended by {signal.Signals(-outcome.code).name}")
    elif outcome.code not in CODES[attack.application] & attack.codes:
        faults.append(f"exit code {outcome.code} isn't among {sorted(CODES[attack.application] & attack.codes)}")

    if 2 not in attack.setting.closed:
        lines = errors.split("\n")
        # Limits that hold the cores' work may leave no room for a device's driver.
        on_cores = len(lines) == 2 and lines[0].startswith(f"coir-{attack.application}: warning: no usable ")
        if outcome.code == 0 and errors and not attack.may_talk and not on_cores:
            faults.append("it talks on stderr")
        prefix = f"coir-{attack.application}: error: "
        if outcome.code != 0 and not (len(lines) == 2 and lines[1] == "" and lines[0].startswith(prefix)):
            faults.append(f"no single line that begins with '{prefix}'")
        if any(len(line) > 1100 for line in lines):
            faults.append("a line that nobody reads to its end")
    given = " ".join(part if isinstance(part, str) else os.fsdecode(part) for part in attack.arguments)
    given += " ".join(f"{name}={value}" for name, value in attack.setting.environment.items())
    faults += [f"a library's word: {word}" for word in LIBRARY_WORDS if word in errors and word not in given]

    after = contents(folder)
    for path, what in before.items():
        if attack.setting.removes_folder and path == attack.setting.folder:
            continue
        is_output = any(fnmatch.fnmatch(path, pattern) for pattern in attack.outputs)
        if path not in after:
            faults.append(f"{path} is gone")
        elif after[path] != what and not (is_output and what[0] == "file"):
            faults.append(f"{path} isn't what it was")
    for path in after:
        if path.endswith(".part"):
            faults.append(f"{path} was left")
        elif path in before:
            continue
        elif outcome.code in (2, 3):
            faults.append(f"{path} came to be though nothing was done")
        elif not any(fnmatch.fnmatch(path, pattern) for pattern in attack.outputs):
            faults.append(f"{path} came to be unasked")
        elif os.path.isfile(os.path.join(folder, path)):
            try:
                whole = is_whole(os.path.join(folder, path))
            except Exception as error:
                whole = False
            if not whole:
                faults.append(f"{path} isn't whole")
    return faults
