"""Run the command in a process of its own.

Most of such a process's time would be imports. So one process for each test worker imports everything once, also what
Typer imports for its first command, and waits; each command runs in a copy of it (a fork), with its own folder,
arguments and output. A copy ends without taking Python apart, object by object, which would copy all of its memory.

    worker ──"learn heart", folder──► waiting process ──fork──► the command
           ◄──────── status ────────                  ◄─ exit ─
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

MAIN = "import eigenwood.cli.main as command; command.main()"
PLAIN = {"COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb"}

WAITING = """
import atexit, contextlib, gc, io, json, os, sys, traceback
import eigenwood.cli.jobs


def status_of(words, program):
    sys.argv = ["-c", *words]
    try:
        exec(program, {"__name__": "__main__"})
    except SystemExit as end:
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


with contextlib.redirect_stdout(io.StringIO()):
    status_of(["info"], sys.argv[1])
gc.freeze()
for line in sys.stdin:
    words, program, folder, out, err = json.loads(line)
    process = os.fork()
    if process == 0:
        os.chdir(folder)
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        status = status_of(words, program)
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


def ran(words: str, folder, program: str = MAIN) -> subprocess.CompletedProcess:
    """Return what came of ``eigenwood <words>`` in a folder, in a copy of the waiting process."""
    if not hasattr(os, "fork"):
        return ran_anew(words, folder, program)
    with tempfile.TemporaryDirectory() as outputs:
        out, err = Path(outputs, "out"), Path(outputs, "err")
        out.touch()
        err.touch()
        waiting = _waiting_process()
        waiting.stdin.write(json.dumps([shlex.split(words), program, str(folder), str(out), str(err)]) + "\n")
        waiting.stdin.flush()
        status = int(waiting.stdout.readline())
        return subprocess.CompletedProcess(words, status, out.read_text(), err.read_text())


def ran_anew(words: str, folder, program: str = MAIN) -> subprocess.CompletedProcess:
    """Return the same of a process that begins and ends as a user's."""
    return subprocess.run(
        [sys.executable, "-c", program, *shlex.split(words)],
        cwd=folder,
        env={**os.environ, **PLAIN},
        capture_output=True,
        text=True,
        timeout=300,
    )


@cache
def _waiting_process() -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", WAITING, MAIN],
        env={**os.environ, **PLAIN},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
