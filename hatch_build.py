"""What a wheel gets besides the source: machine code of all kernels (see docs/design/machine-code.md).

An installer gets it for this machine's level, since that is where the wheel is used; a wheel that is built to be handed
out gets all levels. ``EIGENWOOD_LEVELS`` says otherwise: ``host``, ``all``, ``none``, or names such as ``v2 v3``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LEVELS = "EIGENWOOD_LEVELS"
INSTALLERS = ("PIP_BUILD_TRACKER", "UV")  # variables that pip and uv set for what they install
# Not by PYTHONPATH: pip takes from that what an editable installation of the same source has put on the path.
BUILD = "import sys; sys.path.insert(0, sys.argv.pop(1)); from eigenwood.compiling.build import main; main()"


class MachineCode(BuildHookInterface):
    """Compiles before the wheel is packed; a machine that cannot makes a wheel of source alone, as before."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict) -> None:
        levels = os.environ.get(LEVELS) or ("host" if any(name in os.environ for name in INSTALLERS) else "all")
        if version == "editable" or levels == "none":
            return
        self._folder = tempfile.TemporaryDirectory()
        source = str(Path(self.root) / "src")
        command = [sys.executable, "-c", BUILD, source, "--out", self._folder.name, "--levels", *levels.split()]
        done = subprocess.run(command)
        if done.returncode:
            print("eigenwood: the kernels were not compiled; they will be when they are first used.", flush=True)
            return
        files = sorted(Path(self._folder.name).iterdir())
        build_data["force_include"].update({str(file): f"eigenwood/compiling/code/{file.name}" for file in files})
        if files:
            build_data["pure_python"] = False
            build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict, artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()
