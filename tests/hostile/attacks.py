"""What a hostile run does: one function for each kind of attack, chosen and filled in by a seed."""

import dataclasses
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import tempfile

import execution
import files

APPLICATIONS = ("info", "escape", "jacobi", "nbody", "queue", "offload", "field", "compare")

OPTIONS = {}  # of each application what its options take: see learn()
CHECKPOINTS = []  # one of coir-nbody

NO_WHOLE_NUMBERS = ["", " ", " 5", "5 ", "+5", "5.0", "1e3", "0x10", "five", "nan", "99999999999999999999", "-99999999999999999999",
                    "5\n", "\u0665", "1_000", "5,", "--", "%d", "%n%s", "'5'"]
NO_NUMBERS = ["", " ", "nan", "inf", "-inf", "1e999", "1,5", "1.5x", "0x1p3", "e", "1e", "\u0663", "+1", "--", "1/2", "%s"]
EXTREMES = ["1e308", "-1e308", "5e-324", "-0", "0", "1e-300", "1e30", "-1e30", "1e10", "-1", "3", "1e-10", "0.5", "2.2250738585072014e-308"]


@dataclasses.dataclass
class Attack:
    application: str
    kind: str
    arguments: list
    codes: set  # that it may end with
    setting: execution.Setting = dataclasses.field(default_factory=execution.Setting)
    outputs: tuple = ()  # patterns of files that it may write
    may_warn: bool = False  # in lines of its own, if it succeeds
    says: tuple = ()  # what its line must hold if it fails


def learn(programs):
    """Finds out what the options take by --help: "flag", a whole number N, numbers X, a list A of them, a word, a size."""
    kinds = {"": "flag", "A,A,...": "A", "Z,Z,...": "A", "RE IM": "XX", "X Y": "XX", "X0 X1 Y0 Y1": "XXXX"}
    for name, program in programs.items():
        part = ["merge"] if name == "compare" else []
        text = subprocess.run([program, *part, "--help"], capture_output=True, text=True, check=True).stdout
        found = re.findall(r"^ +(?:-h,)?--([\w-]+)((?: [^ \n]+)*)", text, re.MULTILINE)
        taken = {option: re.sub(r" ?(x \d|Excludes:|Needs:).*", "", takes).strip() for option, takes in found}
        OPTIONS[name] = {option: kinds.get(takes, "word" if "|" in takes else "size" if "COLUMNS" in takes else takes)
                         for option, takes in taken.items() if option not in ("help", "version", "watch", "samples")}
    if "nbody" in programs:
        with tempfile.TemporaryDirectory() as run:
            subprocess.run([programs["nbody"], "--particles", "4", "--steps", "4", "--outputs", "0.55", "--no-pictures", "--no-spectra",
                            "--stepper", "bullfrog", "--deterministic", "--stop-after", "2", "--quiet", "--output", run], check=True)
            CHECKPOINTS.append(pathlib.Path(run, "checkpoint.hdf5").read_bytes())


def make(seed, folder, applications):
    """Writes the files of the run that the seed decides into a folder, and says how to make it."""
    rng = random.Random(seed)
    application = rng.choice([name for name in applications for _ in range(1 if name == "info" else 3)])
    kinds = [wrong_option, wrong_option, extreme_numbers, arguments_of_noise, damaged_input, damaged_input, bad_input, bad_output,
             full_disk]
    if application == "nbody":
        kinds += [configuration, table_or_noise, damaged_checkpoint]
    while True:
        attack = rng.choice(kinds)(rng, application, folder)
        if attack is not None:
            return attack
        shutil.rmtree(folder)  # this kind of attack isn't for this application
        folder.mkdir()


def plain(rng, application, folder):
    """A small run that succeeds: its arguments, and what it writes."""
    if application == "info":
        return rng.choice([[], ["--json"]]), ()
    if application == "escape":
        output = rng.choice(["o.png", "o.npy"])
        return [f"--size={rng.randint(1, 40)}x{rng.randint(1, 40)}", "--iterations", "20", "--output", output, "--report", "r.json",
                "--scheme", rng.choice(["kernel", "arrays"]), *rng.choice([["--quiet"], []])], (output, "r.json")
    if application == "jacobi":
        name = rng.choice(["in.png", "in.npy"])
        write_picture(rng, folder / name)
        output = rng.choice(["o.png", "o.npy"])
        scheme = rng.choice(["auto", "plain", "arrays", "blocked", "red-black", "multigrid"])
        return [name, "--sweeps", "4", "--output", output, "--scheme", scheme, "--precision", rng.choice(["float", "double"]),
                "--output-laplacian", "l.npy", "--quiet"], (output, "l.npy")
    if application == "queue":
        (folder / "in.txt").write_bytes(files.accounting(rng))
        return ["in.txt", "--picture", "o.svg", "--report", "r.json", *rng.choice([[], ["--forecast", "--gpus", "1"]]),
                *rng.choice([["--quiet"], []])], ("o.svg", "r.json")
    if application == "offload":
        (folder / "cores.json").write_text(files.limits_of_cores)
        (folder / "in.json").write_text(files.limits_of_device)
        return ["--host", "cores.json", "--device", "in.json", "--bytes", "24*n", "--in", "8*n", "--output", "o.html", "--report", "r.json",
                *rng.choice([["--quiet"], []])], ("o.html", "r.json")
    if application == "field":
        name = "in.png"
        write_picture(rng, folder / name)
        return [name, "--side", "4", "--steps", "2", "--a-start", "0.3", "--iterations", "1", "--pixels", "16", "--output", "run",
                "--report", "r.json", *rng.choice([["--quiet"], []])], ("run", "run/*", "r.json")
    if application == "compare":
        for name in ("in.json", "b.json"):
            (folder / name).write_text(files.comparison())
        return rng.choice([(["show", "in.json"], ()), (["merge", "in.json", "b.json", "--output", "both"], ("both", "both/*"))])
    return ["--particles", "4", "--steps", "2", "--pixels", "8", "--mesh-ratio", "2", "--output", "run", "--report", "r.json",
            *rng.choice([[], ["--snapshots"], ["--checkpoint", "1"], ["--snapshots", "--deterministic"]]),
            *rng.choice([["--quiet"], []])], ("run", "run/*", "r.json")


def without(arguments, more, options):
    """Arguments without those options that others name, so that each is given once."""
    kept = list(arguments)
    for option in [part.split("=")[0] for part in more if part.startswith("--")]:
        while option in kept:
            at = kept.index(option)
            del kept[at:at + (1 if options.get(option[2:]) == "flag" else 2)]
        kept = [part for part in kept if not part.startswith(option + "=")]
    return kept


def write_picture(rng, path):
    shape = rng.randint(1, 30), rng.randint(1, 30)
    path.write_bytes(picture(rng, path.name, shape))


def picture(rng, name, shape):
    return files.png(rng, *shape) if name.endswith(".png") else files.npy(rng, shape)


def attack_on(rng, application, folder, kind, more=(), codes=(0,), **setting):
    """A plain run with more arguments, or in another setting."""
    arguments, outputs = plain(rng, application, folder)
    return Attack(application, kind, [*arguments, *more], set(codes), execution.Setting(**setting), outputs)


# --- The command line ---

def wrong_option(rng, application, folder):
    options = OPTIONS[application]
    name = rng.choice(sorted(options))
    takes = options[name]
    arguments, outputs = plain(rng, application, folder)

    def attack(*more, codes=(2,), says=()):
        return Attack(application, "option", [*without(arguments, more, options), *more], set(codes), outputs=outputs, says=says)

    match rng.randrange(8):
        case 0:  # mistyped
            letters = list(name)
            at = rng.randrange(len(letters))
            letters[at:at + rng.randrange(2)] = rng.choice(["q", "zz", "_", "\u00e4", "9z"])
            wrong = "".join(letters)
            return attack(f"--{wrong}", codes=(2,)) if wrong not in options else None
        case 1:  # without its value
            return attack(f"--{name}") if takes != "flag" else attack(f"--{name}=" + rng.choice(["maybe", "", "2", "TRUE", "1e999", "x" * 3000,
                                                                                          "99999999999999999999", "true "]))
        case 2:  # twice
            value = {"N": ["5"], "X": ["0.5"], "XX": ["0", "0"], "XXXX": ["0", "1", "0", "1"], "A": ["0.5"], "size": ["4x4"],
                     "flag": []}.get(takes, ["name"])
            return attack(f"--{name}", *value, f"--{name}", *value)
        case 3 | 4:
            values = {"N": [[value] for value in NO_WHOLE_NUMBERS], "X": [[value] for value in NO_NUMBERS],
                      "A": [["0.5,x"], ["0.5,,x"], ["nan"], ["0.5;0.6"], ["-1"], ["0.1,inf"]],
                      "word": [[""], ["nothing"], ["FASTPM"], ["plain "], ["\u00e4"], ["x" * 5000], ["double,float"]],
                      "XX": [[value, "1"] for value in NO_NUMBERS],
                      "XXXX": [["1", "0", "0", "1"], ["0", "0", "0", "0"], ["1", "2", "3"], ["a", "1", "0", "1"], ["0", "1", "0", "1e4"]],
                      "size": [[""], ["x"], ["4x"], ["x4"], ["4x4x4"], ["0x4"], ["-4x4"], ["4.5x4"], ["99999999999x1"], ["4*4"], ["1000001x1"]]}
            if takes not in values:
                return attack(f"--{name}", "", codes=(2, 3, 4))
            return attack(f"--{name}", *rng.choice(values[takes]), says=(f"--{name}",))
        case 5:  # one argument too many; coir-queue and coir-compare take some for files
            return attack(rng.choice(["surplus", "-x", "-", "--=", "---", "-qq", "--no", "/?", "--" + "x" * 100_000]),
                          codes=(2, 3) if application in ("queue", "compare") else (2,))
        case 6 if "backend" in options and rng.randrange(4) == 0:  # 0 where there is one
            return attack("--backend", "gpu", codes=(0, 6))
        case 6:
            return attack(rng.choice(["--kokkos-threads", "--kokkos-threads=abc", "--kokkos-threads=0", "--kokkos-help", "--kokkos-thread=2",
                                      "--kokkos-device-id=x"]))
        case _:  # far too large
            if application == "escape":
                return attack("--size", "1000000x1000000", codes=(4,))
            if application == "nbody":
                return attack("--particles", "16384", codes=(4,))
    return None


def extreme_numbers(rng, application, folder):
    """Numbers that are right, and at the ends of what numbers can be."""
    names = [name for name, takes in sorted(OPTIONS[application].items()) if takes in ("X", "XX", "XXXX") and name != "mesh-ratio"]
    if not names:
        return None
    more = []
    for name in rng.sample(names, min(len(names), rng.choice([1, 1, 2, 3]))):
        count = max(1, OPTIONS[application][name].count("X"))
        more += [f"--{name}", *[rng.choice(EXTREMES) for _ in range(count)]]
    if application == "jacobi":
        more += ["--laplacian"] * rng.randrange(2)
    attack = attack_on(rng, application, folder, "numbers", more, codes=(0, 2, 3, 4, 5))
    attack.may_warn = True  # of a late start, or a table's redshift
    return attack


def arguments_of_noise(rng, application, folder):
    def word():
        match rng.randrange(5):
            case 0:
                return bytes(rng.choice([byte for byte in range(1, 256)]) for _ in range(rng.randrange(30)))
            case 1:
                return "--" + rng.choice(sorted(OPTIONS[application]))
            case 2:
                return rng.choice(EXTREMES + NO_NUMBERS)
            case 3:
                return rng.choice(["\x1b[2J", "a\nb", "\r", "\t", "\u202e", "--\n", "../" * 500, "x" * 100_000, "-", "--", "=", "--=x", "\\", "$(ls)"])
            case _:
                return "".join(rng.choice("-=abc1.,[] '\"#") for _ in range(rng.randrange(12)))
    arguments = [word() for _ in range(rng.randint(2, 9))] + ["--no-such-option"]
    return Attack(application, "noise", arguments, {2, 3} if "--" in arguments else {2, 3, 4, 0} if "--help" in arguments else {2, 3})


# --- Files to read ---

def damaged_input(rng, application, folder):
    if application not in ("jacobi", "queue", "offload", "field", "compare"):
        return None
    arguments, outputs = plain(rng, application, folder)
    if application == "compare":
        (folder / "in.json").write_bytes(files.damaged(rng, (folder / "in.json").read_bytes()))
        return Attack(application, "report", arguments, {0, 3}, outputs=outputs)
    if application == "offload":
        path = folder / rng.choice(["in.json", "cores.json"])
        path.write_bytes(files.damaged(rng, path.read_bytes()))
        return Attack(application, "limits", arguments, {0, 2, 3}, outputs=outputs)  # 2: one that the work needs is gone, or too large
    path = folder / arguments[0]
    if application == "queue":
        data = files.forged_accounting(rng) if rng.random() < 0.4 else path.read_bytes()
        path.write_bytes(files.damaged(rng, data) if rng.random() < 0.8 else data)
        return Attack(application, "accounting", arguments, {0, 2, 3}, outputs=outputs)  # 2: no ReqTRES to forecast from
    path.write_bytes(files.damaged(rng, path.read_bytes()))
    return Attack(application, "picture", arguments, {0, 3, 4, 5}, outputs=outputs)


def make_unreadable(rng, path):
    """Something in a file's place that isn't one; the last of its names is a link if there are several."""
    match rng.randrange(10):
        case 0:
            path.mkdir()
        case 1:
            os.mkfifo(path)
        case 2:
            path.write_bytes(b"")
        case 3:
            path.symlink_to("nowhere")
        case 4:
            path.symlink_to(path.name)
        case 5:
            path.symlink_to("/dev/zero")
        case 6:
            path.symlink_to("/dev/full")
        case 7:
            path.symlink_to("/proc/self/mem")
        case 8:
            here = socket.socket(socket.AF_UNIX)
            here.bind(str(path))
            here.close()
        case _:
            pass  # it isn't there


def bad_input(rng, application, folder):
    arguments, outputs = plain(rng, application, folder)
    path = folder / "bad.npy"
    make_unreadable(rng, path)
    if application == "jacobi":
        arguments[0] = rng.choice(["bad.npy", "./bad.npy", "bad.npy/x", "none/bad.npy", "x" * 300 + ".png", "/"])
    elif application == "nbody":
        arguments += [rng.choice(["--noise", "--power-table", "--restart", "--config"]), "bad.npy"]
        if path.is_dir() and arguments[-2] == "--restart":
            (path / "checkpoint.hdf5").write_bytes(rng.randbytes(300))
            return Attack(application, "input", ["--restart", "bad.npy"], {3}, outputs=outputs)
        if arguments[-2] == "--restart":
            arguments = ["--restart", "bad.npy", "--output", "run"]
    elif application == "queue":
        if rng.random() < 0.3:
            arguments += ["--config", "bad.npy"]
        elif path.is_fifo():
            return None  # of which it reads what somebody is going to write
        else:
            arguments[0] = rng.choice(["bad.npy", "bad.npy", "./bad.npy", "bad.npy/x", "none/bad.npy", "x" * 300 + ".txt", "/", "-"])
    elif application == "field":
        arguments[0] = rng.choice(["bad.npy", "bad.npy/x", "none/bad.npy"])
    elif application == "compare" and not path.is_fifo():
        arguments[1] = rng.choice(["bad.npy", "bad.npy/x", "none/bad.npy", "/"])
    elif application == "offload" and not path.is_fifo():
        arguments[rng.choice([1, 3])] = rng.choice(["bad.npy", "bad.npy/x", "none/bad.npy", "x" * 300 + ".json", "/"])
    else:
        return None
    return Attack(application, "input", arguments, {3}, outputs=outputs)


def configuration(rng, application, folder):
    data = files.configuration(rng)
    is_damaged = rng.random() < 0.8
    (folder / "c.toml").write_bytes(files.damaged(rng, data) if is_damaged else data)
    arguments = ["--particles", "4", "--pixels", "8", "--mesh-ratio", "2", "--output", "run", "--no-spectra", "--config", "c.toml"]
    codes = {0, 2, 3, 4, 5} if is_damaged else {0}
    if is_damaged:
        arguments += ["--scale-factors", "0.1,1"]
    return Attack(application, "config", arguments, codes, outputs=("run", "run/*"), may_warn=True)


def table_or_noise(rng, application, folder):
    arguments, outputs = plain(rng, application, folder)
    if rng.random() < 0.5:
        data = files.power_table(rng)
        more = ["--power-table", "in.txt", *rng.choice([[], ["--renormalise"]])]
    else:
        data = files.npy(rng, (4, 4, 4), rng.choice(["<f4", "<f8"]))
        more = ["--noise", "in.txt"]
    if rng.random() < 0.85:
        data = files.damaged(rng, data)
    (folder / "in.txt").write_bytes(data)
    return Attack(application, "table", arguments + more, {0, 3, 4, 5}, outputs=outputs, may_warn=True)  # of rows too far apart


def damaged_checkpoint(rng, application, folder):
    """Half of them are forged: the checksum fits what was damaged, which may hold other values, or momenta that are large."""
    whole, is_forged = CHECKPOINTS[0], rng.random() < 0.5
    data = files.with_checksum(files.damaged(rng, whole[:-32])) if is_forged else files.damaged(rng, whole)
    (folder / "c.hdf5").write_bytes(data)
    codes = {0, 3, 5} if is_forged else {3} if data != whole else {0}
    return Attack(application, "checkpoint", ["--restart", "c.hdf5", "--output", "run", "--quiet"], codes, outputs=("run", "run/*"))


# --- Files to write ---

def bad_output(rng, application, folder):
    if application in ("info", "compare"):
        return None
    arguments, outputs = plain(rng, application, folder)
    name = {"escape": "o.png", "jacobi": "o.png", "nbody": "r.json", "field": "r.json", "queue": "o.svg", "offload": "o.html"}[application]
    option = {"nbody": "--report", "field": "--report", "queue": "--picture"}.get(application, "--output")
    if option in arguments:
        del arguments[arguments.index(option):][:2]
        at = next((n for n, part in enumerate(arguments) if part == option), None)
        if at is not None:
            del arguments[at:at + 2]
    codes, more = {4}, []
    # What becomes of folders, links and locked files in an output's place, tests of io::AtomicFile look at.
    match rng.randrange(5):
        case 0:
            more, outputs = [option, "none/" + name], ()
        case 1 if application in ("jacobi", "queue"):
            source = arguments[0]
            spelt = rng.choice([source, "./" + source, f"../{folder.name}/{source}", str(folder / source), "link" + source[2:]])
            if spelt.startswith("link"):
                rng.choice([os.symlink, os.link])(folder / source, folder / spelt)
            overwriting = ["--report"] if application == "queue" else ["--output", "--report", "--output-laplacian"]
            more, codes, outputs = [rng.choice(overwriting), spelt], {2}, ()
            arguments = [part for part in arguments if part not in ("--output-laplacian", "l.npy", "--report", "r.json")]
        case 1 if application == "nbody":
            data = files.power_table(rng)
            (folder / "p.txt").write_bytes(data)
            more, codes, outputs = ["--power-table", "p.txt", "--report", rng.choice(["p.txt", "./p.txt", "run/../p.txt"])], {2}, ()
            if more[-1].startswith("run"):
                (folder / "run").mkdir()
        case 2 if application == "nbody":
            more = rng.choice([["--report", "/dev/full"], ["--output", "r.d/run"], ["--output", "/dev/null"], ["--output", "/proc/run"]])
            if more[0] == "--output":
                arguments = [part for part in arguments if part not in ("--output", "run")]
            codes = {4}
        case 2 if application in ("escape", "queue", "offload", "field"):
            arguments = [part for part in arguments if part not in ("--report", "r.json")]
            more = ["--report", "/dev/full"]
        case 2:
            more = ["--report", "/dev/full"]
        case 3 if application == "nbody":
            run = folder / "run"
            rng.choice([lambda: run.write_bytes(b"x"), lambda: (run / "config.toml").mkdir(parents=True), lambda: run.symlink_to("run"),
                        lambda: run.symlink_to("nowhere")])()
        case 4 if application == "nbody":
            (folder / "run").mkdir()
            attack = Attack(application, "output", arguments, {4}, outputs=())
            attack.setting.locks = "run"
            return attack
        case _:
            return None
    return Attack(application, "output", [*arguments, *more], codes, outputs=outputs)


# --- Full disks ---

def full_disk(rng, application, folder):
    attack = attack_on(rng, application, folder, "disk", codes=(0, 4))
    attack.setting.most_bytes = rng.choice([0, 1, 100, 1000, 5000])
    return attack
