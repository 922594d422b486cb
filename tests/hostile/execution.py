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
         "offload": {0, 2, 3, 4}, "field": {0, 2, 3, 4, 5, 6}, "compare": {0, 2, 3, 4}}


@dataclasses.dataclass
class Setting:
    """Around a program: its environment, streams, limits and user."""
    most_bytes: int = None  # of a file that it writes, as on a full disk
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
    environment = {"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "2"}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH"):
        if name in os.environ:
            environment[name] = os.environ[name]
    if "ASAN_OPTIONS" in environment:
        environment["ASAN_OPTIONS"] += ":detect_leaks=0"  # other tests look for them; here processes are short

    def prepare():
        os.chdir(folder)
        os.umask(0o022)
        if setting.user is not None:
            os.setgroups([])
            os.setgid(setting.user)
            os.setuid(setting.user)
        if setting.most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (setting.most_bytes, setting.most_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    lock = None
    if setting.locks:
        lock = os.open(os.path.join(folder, setting.locks), os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
    start = time.monotonic()
    process = subprocess.Popen(command, env=environment, preexec_fn=prepare, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, close_fds=True, start_new_session=True)
    try:
        output, errors = process.communicate(timeout=setting.seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        code = None
    if lock is not None:
        os.close(lock)
    return Outcome(code, output or b"", errors or b"", time.monotonic() - start)


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
    codes = CODES[attack.application] & attack.codes
    if outcome.code < 0:
        faults.append(f"it was ended by {signal.Signals(-outcome.code).name}")
    elif outcome.code not in codes:
        faults.append(f"exit code {outcome.code} isn't among {sorted(codes)}")
    if outcome.code != 0:
        faults += [f"it doesn't say {words!r}" for words in attack.says if words not in errors]
    lines = errors.split("\n")
    warning = f"coir-{attack.application}: warning: "
    # Every run of a build for a device may say that there is none.
    may_say = warning if attack.may_warn else warning + "no usable "
    if outcome.code == 0 and not all(line.startswith(may_say) for line in lines[:-1]):
        faults.append("it talks on stderr")
    prefix = f"coir-{attack.application}: error: "
    if outcome.code != 0 and not (len(lines) == 2 and lines[1] == "" and lines[0].startswith(prefix)):
        faults.append(f"no single line that begins with '{prefix}'")
    if any(len(line) > 1100 for line in lines):
        faults.append("a line that nobody reads to its end")
    given = " ".join(part if isinstance(part, str) else os.fsdecode(part) for part in attack.arguments)
    faults += [f"a library's word: {word}" for word in LIBRARY_WORDS if word in errors and word not in given]

    after = contents(folder)
    for path, what in before.items():
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
