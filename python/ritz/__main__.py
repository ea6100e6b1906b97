# SPDX-License-Identifier: BSD-2-Clause
"""The program `ritz` of the library that the package brings: `ritz solve box:8x8x8`, or `python -m ritz`."""
import os
import sys
from pathlib import Path

from ._compiler import offer_nvrtc, offer_zig


def main() -> None:
    """Becomes that program."""
    prefix = os.environ.get("RITZ_PREFIX") or Path(__file__).resolve().parent / "_prefix"
    program = Path(prefix) / "bin" / "ritz"
    if not program.exists():
        sys.exit(f"ritz: no program {program}; RITZ_PREFIX names the installation of the library that this package uses")
    offer_zig()
    offer_nvrtc()
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
