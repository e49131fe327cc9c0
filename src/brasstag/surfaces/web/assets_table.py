"""Assets: the style and the scripts of the pages, each under an address that changes with its content."""

from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from brasstag.words.canonical import sha256

FOLDER = Path(__file__).parent / "assets"

_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@cache
def _contents() -> dict[str, tuple[bytes, str]]:
    """Return each asset with its digest; read once, so no request reaches the disk."""
    found = {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.suffix in _TYPES}
    return {name: (data, sha256(data)[:12]) for name, data in found.items()}


def asset_address(name: str) -> str:
    """Return the address of an asset; a name that is none is a mistake in a template."""
    return f"/assets/{_contents()[name][1]}/{name}"


async def serve_asset(request: Request) -> Response:
    """Answer with an asset; browsers keep it for good, as other content has another address."""
    name, digest = request.path_params["name"], request.path_params["digest"]
    found = _contents().get(name)
    if found is None or found[1] != digest:
        return Response("no such asset", 404)
    data, _ = found
    return Response(
        data,
        media_type=_TYPES[Path(name).suffix],
        headers={"cache-control": "public, max-age=31536000, immutable"},
    )
