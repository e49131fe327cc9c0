"""Peers that come from the npm registry; where Node is missing they are left out, and the benchmark says so."""

import shutil
import subprocess
from pathlib import Path

_PLACE = Path(__file__).parent.parent / ".venv" / "peers"
_PACKAGES = {
    "srt": "@anthropic-ai/sandbox-runtime@0.0.83",
    "mcp-server-filesystem": "@modelcontextprotocol/server-filesystem@2026.8.31",
}
_NEEDS = {"srt": ("bwrap", "socat", "rg")}
"""Programs of the system without which a peer does not work."""


def node_peer(program: str) -> Path | None:
    """Return a peer's program, installed where it is not yet; None where it cannot be had, or could not work."""
    needs = ("node", "npm", *_NEEDS.get(program, ()))
    if missing := [one for one in needs if shutil.which(one) is None]:
        print(f"  ({program} is left out: it needs {', '.join(missing)})")
        return None
    found = _PLACE / "node_modules" / ".bin" / program
    if not found.exists():
        command = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", str(_PLACE)]
        done = subprocess.run([*command, *_PACKAGES.values()], capture_output=True, check=False)
        if done.returncode:
            print(f"  ({program} is left out: npm could not install it)")
            return None
    return found
