"""Remove and move whole directories, as lists of changes to single paths."""

from dataclasses import dataclass

from brasstag.sandbox.workspace.change.renames import call_in
from brasstag.sandbox.workspace.errors import shown
from brasstag.sandbox.workspace.paths import ancestors, join_path, split_path
from brasstag.sandbox.workspace.view.reader import Kind, Listing, PathStat
from brasstag.sandbox.workspace.view.stage import GONE, VACATED, Node
from brasstag.sandbox.workspace.view.view import View
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import DIRECTORY


@dataclass(frozen=True, slots=True)
class Below:
    """One path inside a directory."""

    path: str
    look: PathStat


def make_parents(view: View, path: str, create: bool = True) -> None:
    """Stage the directories missing above a canonical path, or refuse when they may not be made."""
    above = ancestors(path)
    while above and view.look(above[-1]) is None:
        above.pop()
    if above and _kind(view, above[-1]) != "directory":
        raise ToolError(
            Code.NOT_A_DIRECTORY, f"{shown(above[-1])} is not a directory, so nothing can be put in it"
        )
    for place in ancestors(path)[len(above) :]:
        if not create:
            raise ToolError(
                Code.FILE_NOT_FOUND,
                f"the directory {shown(place)} does not exist; make it first, or let this call create directories",
            )
        view.put(place, Node(DIRECTORY))


def remove_path(view: View, path: str, look: PathStat, recursive: bool) -> list[str]:
    """Stage the removal of a file, link or directory; return every path that goes, in order."""
    inside: list[Below] = []
    if look.kind == "directory":
        inside = _inside(view, path)
        if inside and not recursive:
            raise ToolError(
                Code.DIRECTORY_NOT_EMPTY,
                f"{shown(path)} is a directory and not empty; pass recursive to delete it with all it holds",
            )
    for below in inside:
        view.put(below.path, GONE)
    view.put(path, GONE)
    return sorted([path, *(below.path for below in inside)])


def move_path(view: View, source: str, target: str, look: PathStat, overwrite: bool) -> list[str]:
    """Stage the move of a file, link or directory; return the links that move, by their new paths.

    What stands at the target decides whether it may.
    """
    _refuse_target(view, source, target, look, overwrite)
    make_parents(view, target)
    if look.kind != "directory":
        view.carry(source, target)
        return [target] if look.kind == "symlink" else []
    links: list[str] = []
    inside = _inside(view, source)
    view.put(target, Node(DIRECTORY, mode=look.mode))
    for below in inside:
        place = target + below.path.removeprefix(source)
        if below.look.kind == "directory":
            view.put(place, Node(DIRECTORY, mode=below.look.mode))
        else:
            view.carry(below.path, place)
            links += [place] if below.look.kind == "symlink" else []
    # Only now: what lies in a directory that goes is no longer there to be carried.
    for path in (source, *(below.path for below in inside if below.look.kind == "directory")):
        view.put(path, VACATED)
    return links


def _refuse_target(view: View, source: str, target: str, look: PathStat, overwrite: bool) -> None:
    new = shown(target)
    if source == target:
        raise ToolError(Code.ALREADY_EXISTS, f"{new} is there already; choose another target")
    if target.startswith(f"{source}/"):
        raise ToolError(
            Code.INVALID_ARGUMENTS, f"{shown(source)} cannot be moved into itself; choose another target"
        )
    there = _kind(view, target)
    if there is None:
        return
    if there == "directory":
        inside = shown(join_path(target, split_path(source)[1]))
        raise ToolError(Code.ALREADY_EXISTS, f"{new} is a directory; to move into it, name {inside}")
    if look.kind == "directory":
        raise ToolError(Code.ALREADY_EXISTS, f"{new} exists; a directory replaces nothing. Delete it first")
    if there == "other":
        raise ToolError(Code.NOT_A_FILE, f"{new} is a pipe, socket or device; choose another target")
    if not overwrite:
        raise ToolError(Code.ALREADY_EXISTS, f"{new} exists; pass overwrite to replace it")


def _kind(view: View, path: str) -> Kind | None:
    look = view.look(path)
    return None if look is None else look.kind


def _inside(view: View, directory: str) -> list[Below]:
    found: list[Below] = []
    pending = [directory]
    while pending:
        place = pending.pop()
        listing = view.listing(place)
        if listing.temporary:
            _refuse_while_in_use(view, place, listing)
            # A call that has ended since has taken its names away. What is still there was left behind.
            listing = view.listing(place)
        _refuse_what_must_stay(place, listing)
        below = [Below(join_path(place, name), look) for name, look in listing.children.items()]
        found += below
        pending += [one.path for one in below if one.look.kind == "directory"]
    return found


def _refuse_while_in_use(view: View, directory: str, listing: Listing[PathStat]) -> None:
    if any(view.is_at_work(call) for call in map(call_in, listing.temporary) if call):
        view.in_use = directory
        raise ToolError(Code.BUSY, f"another call is at work in {shown(directory)}; try again")


def _refuse_what_must_stay(directory: str, listing: Listing[PathStat]) -> None:
    where = shown(directory)
    if listing.controls:
        raise ToolError(
            Code.CONTROL_FILE, f"{where} holds files no tool may touch; name the others one by one"
        )
    if listing.unnamed:
        raise ToolError(
            Code.INVALID_PATH, f"{where} holds names that are not UTF-8; a person has to rename them first"
        )
    for name, look in listing.children.items():
        if look.kind == "other":
            raise ToolError(
                Code.NOT_A_FILE,
                f"{shown(join_path(directory, name))} is a pipe, socket or device; a person has to remove it first",
            )
