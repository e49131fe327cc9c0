"""Peers that come from the npm registry; where Node is missing they are left out, and the benchmark says so."""

import shutil
import subprocess
from pathlib import Path

_PLACE = Path(__file__).parent.parent / ".venv" / "peers"
_PACKAGES = {
    "srt": "@anthropic-ai/sandbox-runtime@0.0.83",
    "mcp-server-filesystem": "@modelcontextprotocol/server-filesystem@2026.8.31",
}


def node_peer(program: str) -> Path | None:
    """Return a peer's program, installed where it is not yet; None where there is no Node, or no registry."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        print(f"  ({program} is left out: there is no Node here)")
        return None
    found = _PLACE / "node_modules" / ".bin" / program
    if not found.exists():
        command = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", str(_PLACE)]
        done = subprocess.run([*command, *_PACKAGES.values()], capture_output=True, check=False)
        if done.returncode:
            print(f"  ({program} is left out: npm could not install it)")
            return None
    return found
