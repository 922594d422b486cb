#!/usr/bin/env python3
"""Hostile runs of the applications: wrong options, damaged files, files that can't be written, full disks.

Each run has a number, which with the seed decides all of it. It must end in time and not by a signal, with an exit code
that its application documents and this attack allows; say one line on stderr if it fails and none if it doesn't, in no
library's words; leave its input files as they were, no temporary files, and only whole outputs.

    hostile.py --apps build/openmp/apps --runs 2000
    hostile.py --apps build/openmp/apps --only 1234 --keep   # one run again; its folder stays
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import shutil
import stat
import sys
import tempfile

import attacks
import execution

NOBODY = 1_000_000  # and above: users that no system has


def install(apps, folder):
    """Copies the applications to where anybody may run them; {name: path}, of those that were built."""
    found = {}
    for name in attacks.APPLICATIONS:
        program = apps / name / f"coir-{name}"
        if program.exists():
            found[name] = pathlib.Path(shutil.copy2(program, folder))
            found[name].chmod(0o755)
    return found


def user_for_runs(programs):
    """Root may write everywhere, so its runs are somebody else's if they can be; None: nobody else's."""
    if os.geteuid() != 0:
        return None
    outcome = execution.execute([str(programs["info"]), "--version"], execution.Setting(user=NOBODY), pathlib.Path("/"))
    return NOBODY if outcome.code == 0 else None


def one_run(number, options, programs, user, scratch):
    """The faults of a run as text, empty if there are none, and what kind of run it was."""
    folder = scratch / str(number)
    folder.mkdir()
    seed = f"{options.seed}/{number}"
    if options.checkpoints:
        attack = attacks.damaged_checkpoint(random.Random(seed), "nbody", folder)
    else:
        attack = attacks.make(seed, folder, sorted(programs))
    # One user a run: a limit on a user's processes counts those of other runs, too.
    user = user + number if user is not None else None
    attack.setting.user = user
    attack.setting.seconds = options.limit
    if user is not None:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, user, user, follow_symlinks=False)
    command = [str(programs[attack.application]), *attack.arguments]
    before = execution.contents(folder)
    outcome = execution.execute(command, attack.setting, folder)
    faults = execution.faults_of(attack, outcome, before, folder)
    if faults:
        name = f"run {number}, {attack.kind} of coir-{attack.application}"
        said = outcome.errors.decode(errors="replace")[:2000]
        faults = (f"{name}\n  {execution.as_text(command)}\n  {attack.setting}\n  exit code {outcome.code}, said: {said!r}\n"
                  + "".join(f"  * {fault}\n" for fault in faults))
    if not options.keep:
        for path in folder.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(stat.S_IRWXU)
        shutil.rmtree(folder, ignore_errors=True)
    return faults, attack.kind, attack.application, outcome.code


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--apps", type=pathlib.Path, required=True, help="folder with info/coir-info and the others")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the number of the first run")
    parser.add_argument("--only", type=int, help="make this run alone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=120, help="seconds that a run may take")
    parser.add_argument("--sanitized", action="store_true", help="the programs have sanitizers, which need memory and processes")
    parser.add_argument("--checkpoints", action="store_true", help="only damaged checkpoints of coir-nbody")
    parser.add_argument("--keep", action="store_true", help="leave the folders of runs")
    options = parser.parse_args()
    if options.sanitized:
        os.environ.setdefault("ASAN_OPTIONS", "")
    numbers = [options.only] if options.only is not None else range(options.first, options.first + options.runs)

    scratch = pathlib.Path(tempfile.mkdtemp(prefix="coir-hostile-"))
    scratch.chmod(0o755)
    failures, counts = 0, {}
    try:
        programs = install(options.apps, scratch)
        if "info" not in programs:
            sys.exit(f"no info/coir-info in {options.apps}")
        attacks.learn(programs)
        user = user_for_runs(programs)
        with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
            runs = [pool.submit(one_run, n, options, programs, user, scratch) for n in numbers]
            for run in concurrent.futures.as_completed(runs):
                faults, kind, application, code = run.result()
                counts.setdefault(kind, {}).setdefault(code, 0)
                counts[kind][code] += 1
                if faults:
                    failures += 1
                    print(faults, flush=True)
    finally:
        if options.keep:
            print(f"folders of runs: {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    for kind, codes in sorted(counts.items()):
        print(f"{kind:12} {sum(codes.values()):5} runs; exit codes " +
              ", ".join(f"{code}: {count}" for code, count in sorted(codes.items(), key=str)))
    print(f"{len(numbers)} hostile runs, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
