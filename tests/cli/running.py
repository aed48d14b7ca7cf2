"""How the tests run the command: in a process of its own, in a folder, with a plain terminal."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

MAIN = "import eigenwood.cli.main as command; command.main()"


def ran(words: str, folder, program: str = MAIN, **environment) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", program, *shlex.split(words)],
        cwd=folder,
        env={**os.environ, "COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
