"""Tables of commands that destroy, stop or open a machine, and of commands that deserve a second look."""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from brasstag.policy.globs import anywhere
from brasstag.policy.shell.commands import Command, Word
from brasstag.policy.shell.programs.aliases import respelt
from brasstag.policy.shell.programs.options import subcommands
from brasstag.policy.shell.programs.standard_input import SHELLS
from brasstag.policy.shell.programs.variables import assigned
from brasstag.policy.shell.programs.writes import written_files
from brasstag.policy.shell.unknowns import operands

Check = Callable[[Command], bool]

_WILDCARDS = re.compile(r"[*?\[{$`].*", re.DOTALL)
_SYSTEM = re.compile(r"/(?:bin|boot|dev|etc|lib|lib32|lib64|proc|sbin|sys|usr)(?:/.*)?", re.DOTALL)
_VITAL = re.compile(r"/|/(?:home|mnt|media|opt|root|run|srv|var|Users)|/(?:home|Users)/[^/]+|~[^/]*")
_DEVICE = re.compile(
    r"/dev/(?!null$|zero$|full$|stdin$|stdout$|stderr$|tty$|fd/|shm/|u?random$|tcp/|udp/).+", re.DOTALL
)
_SOCKET = re.compile(r"/dev/(?:tcp|udp)/.*", re.DOTALL)
_SETS_ID = re.compile(r"[ugoa]*[+=][rwxXt]*s[rwxXt]*|0?[2-7][0-7]{3}")
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_REMOVES = frozenset({"rm", "grm", "srm"})
_COPIES_RAW = frozenset({"dd", "gdd", "dcfldd", "dc3dd"})
_EVERY_PROCESS = frozenset({"-1", "1"})


def destroys_machine(command: Command) -> bool:
    """Say whether it destroys a disk, the system or a home directory."""
    if any(_DEVICE.fullmatch(_whole(word)) for word in written_files(command)):
        return True
    if command.name.startswith(("mkfs.", "mkfs_")):
        return True
    return _DESTROYS_MACHINE.get(command.name, _never)(command)


def stops_machine(command: Command) -> bool:
    """Say whether it stops the machine or all that runs on it."""
    return _STOPS_MACHINE.get(command.name, _never)(command)


def opens_door(command: Command) -> bool:
    """Say whether it gives a shell to another party on the network."""
    streams = [word.text for word in (*command.reads, *command.writes)]
    if command.name in SHELLS | {"exec", "cat"} and any(_SOCKET.fullmatch(text) for text in streams):
        return True
    if command.name in ("nc", "ncat", "netcat", "nc.traditional"):
        return any(_EXECUTES.fullmatch(argument) for argument in command.arguments)
    return command.name == "socat" and any(_SOCAT.match(argument) for argument in command.arguments)


def destroys_files(command: Command) -> bool:
    """Say whether it deletes or overwrites many files in one go."""
    return _DESTROYS_FILES.get(command.name, _never)(command)


def forces_deletion(command: Command) -> bool:
    """Say whether it is ``rm -rf``, in any order, spelling and place of its options."""
    return command.name in _REMOVES and _recursive(command) and _says(command, "f", "--force")


def copies_raw(command: Command) -> bool:
    """Say whether it is dd, and not just for its version or help."""
    return command.name in _COPIES_RAW and command.arguments not in (("--version",), ("--help",))


def changes_system(command: Command) -> bool:
    """Say whether it acts as another user, or on the machine rather than on files of the workspace."""
    if any(_is_system(word) and not _is_stream(word.text) for word in written_files(command)):
        return True
    if any(_LOADED.match(assignment) for assignment in assigned(command)):
        return True
    return _CHANGES_SYSTEM.get(command.name, _never)(command)


def forks_without_end(commands: Iterable[Command]) -> Iterator[str]:
    """Yield the functions that call themselves twice over, as fork bombs do."""
    calls = [one for one in commands if one.name and f"function {one.name}" in one.place]
    piped = {one.name for one in calls if one.piped}
    for name, count in Counter(one.name for one in calls).items():
        if count > 1 and name in piped:
            yield name


def _whole(word: Word) -> str:
    """Return a path without ``.``, ``..`` and doubled slashes, cut where wildcards begin."""
    text = _WILDCARDS.sub("", word.text)
    if text != word.text:
        text = text.rpartition("/")[0] or ("/" if text.startswith("/") else text)
    path = posixpath.normpath(text) if text else ""
    return path.replace("//", "/", 1) if path.startswith("//") else path


def _is_system(word: Word) -> bool:
    return _SYSTEM.fullmatch(_whole(word)) is not None


def _is_vital(word: Word) -> bool:
    """Say whether a path is the system, a home directory, or all of them."""
    return _VITAL.fullmatch(_whole(word)) is not None or _is_system(word)


def _is_stream(text: str) -> bool:
    return _DEVICE.fullmatch(text) is None and text.startswith("/dev/")


def _any_vital(command: Command) -> bool:
    return any(_is_vital(word) for word in operands(command))


def _recursive(command: Command) -> bool:
    return _says(command, "rR", "--recursive")


def _says(command: Command, letters: str, long: str) -> bool:
    """Say whether an option is one of these letters, alone or with others, or the long one, which may be cut short."""
    for argument in command.arguments:
        if argument == "--":
            return False
        if argument.startswith("--"):
            if long.startswith(argument):
                return True
        elif argument.startswith("-") and not set(letters).isdisjoint(argument):
            return True
    return False


def _recursive_and_vital(command: Command) -> bool:
    return _recursive(command) and _any_vital(command)


def _on_device(command: Command) -> bool:
    return any(_DEVICE.fullmatch(_whole(word)) for word in operands(command))


def _into_device(command: Command) -> bool:
    last = operands(command)[-1:]
    return any(_DEVICE.fullmatch(_whole(word)) for word in last)


def _dd(command: Command) -> bool:
    targets = (argument.removeprefix("of=") for argument in command.arguments if argument.startswith("of="))
    return any(_DEVICE.fullmatch(_whole(Word(target))) for target in targets)


def _finds_and_deletes(command: Command) -> bool:
    return "-delete" in command.arguments


def _finds_vital_and_deletes(command: Command) -> bool:
    words = command.words[1:]
    first = next(
        (index for index, word in enumerate(words) if word.text.startswith(("-", "(", "!"))), len(words)
    )
    pairs = zip(command.arguments, command.arguments[1:], strict=False)
    runs_rm = any(flag in _FIND_RUNS and run.rpartition("/")[2] in ("rm", "shred") for flag, run in pairs)
    return (_finds_and_deletes(command) or runs_rm) and any(_is_vital(word) for word in words[:first])


def _moves_vital(command: Command) -> bool:
    return any(_is_vital(word) for word in operands(command)[:-1]) or _into_device(command)


def _always(_command: Command) -> bool:
    return True


def _never(_command: Command) -> bool:
    return False


def _has(*words: str) -> Check:
    """Return a check that one of these words is among the arguments."""
    return lambda command: not set(words).isdisjoint(command.arguments)


def _starts(*words: str) -> Check:
    """Return a check that the subcommand may be one of these words, by any of its names."""

    def check(command: Command) -> bool:
        spellings = (command.words, *respelt(command.words))
        return any(not set(words).isdisjoint(subcommands(spelling)) for spelling in spellings)

    return check


def _kills_all(command: Command) -> bool:
    targets = [
        argument for argument in command.arguments[-1:] if len(command.arguments) > 1 or argument == "1"
    ]
    return not _EVERY_PROCESS.isdisjoint(targets)


def _git_destroys(command: Command) -> bool:
    return _GIT_DESTROYS.matches(command.text)


def _sets_id(command: Command) -> bool:
    return any(_SETS_ID.fullmatch(argument) for argument in command.arguments)


def _writes_system(command: Command) -> bool:
    last = operands(command)[-1:]
    return any(_is_system(word) and not _is_stream(word.text) for word in last)


def _tees_system(command: Command) -> bool:
    return any(_is_system(word) and not _is_stream(word.text) for word in operands(command))


_EXECUTES = re.compile(r"-[a-z]*[ec]|--exec|--sh-exec|-[ec]/.*")
_SOCAT = re.compile(r"(?:exec|system|shell):", re.IGNORECASE)
_LOADED = re.compile(r"(?:LD_PRELOAD|LD_AUDIT|BASH_ENV|PROMPT_COMMAND|PATH|PS4|SHELLOPTS)=")
_GIT_DESTROYS = anywhere(
    *(r"\bclean\b.* -\w*f", r"\breset\b.* --hard", r"\bcheckout\b.* (?:-f|--force|\.)(?: |$)"),
    *(
        r"\brestore\b.* \.(?: |$)",
        r"\bpush\b.* (?:-\w*f|--force|--mirror|--delete|[+:]\w)",
        r"\bbranch\b.* -D",
    ),
    *(r"\bstash (?:drop|clear)", r"\bfilter-branch\b", r"\breflog expire"),
)

_DESTROYS_MACHINE: Mapping[str, Check] = {
    **dict.fromkeys((*_REMOVES, "chmod", "chown", "chgrp", "setfacl"), _recursive_and_vital),
    **dict.fromkeys(
        ("mkfs", "mke2fs", "mkswap", "mkdosfs", "newfs", "wipefs", "blkdiscard", "sgdisk"), _always
    ),
    **dict.fromkeys(
        ("fdisk", "sfdisk", "parted", "cfdisk", "hdparm", "badblocks", "cryptsetup", "pvremove"), _on_device
    ),
    **dict.fromkeys(("shred", "wipe", "tee", "truncate", "srm"), _on_device),
    **dict.fromkeys(("cp", "install"), _into_device),
    "mv": _moves_vital,
    **dict.fromkeys(_COPIES_RAW, _dd),
    "find": _finds_vital_and_deletes,
    "rmdir": _any_vital,
}

_STOPS_MACHINE: Mapping[str, Check] = {
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff", "telinit", "killall5"), _always),
    "init": _starts("0", "6"),
    "systemctl": _starts(
        "poweroff", "reboot", "halt", "kexec", "rescue", "emergency", "suspend", "hibernate"
    ),
    "kill": _kills_all,
}

_DESTROYS_FILES: Mapping[str, Check] = {
    **dict.fromkeys(_REMOVES, _recursive),
    **dict.fromkeys(("shred", "wipe"), _always),
    "find": _finds_and_deletes,
    "git": _git_destroys,
    "rsync": lambda command: any(argument.startswith("--del") for argument in command.arguments),
    "history": _has("-c"),
}

_OF_THE_SYSTEM = (
    "sudo", "sudoedit", "run0", "su", "doas", "pkexec", "runuser", "sg", "newgrp", "chroot", "nsenter", "unshare", "mount",
    "umount", "swapoff", "losetup", "modprobe", "insmod", "rmmod", "sysctl", "kexec", "useradd", "userdel",
    "usermod", "groupadd", "adduser", "deluser", "passwd", "chpasswd", "visudo", "vipw", "chsh", "iptables",
    "ip6tables", "nft", "ufw", "setcap", "mknod", "crontab", "at", "batch", "systemctl", "service",
    "launchctl", "systemd-run", "apt", "apt-get", "dnf", "yum", "apk", "pacman", "dpkg", "rpm", "snap",
    "killall", "pkill", "nc", "ncat", "netcat", "socat", "telnet", "ssh",
)  # fmt: skip
"""Commands that always act as another user, or on the machine or others."""
_CHANGES_SYSTEM: Mapping[str, Check] = {
    **dict.fromkeys(_OF_THE_SYSTEM, _always),
    **dict.fromkeys(
        ("docker", "podman", "kubectl", "nerdctl"), _starts("run", "exec", "rm", "rmi", "system", "delete")
    ),
    **dict.fromkeys(("cp", "mv", "ln", "install", "rsync", "touch", "mkdir"), _writes_system),
    **dict.fromkeys(("tee", "truncate", "sed", "chattr", "chown"), _tees_system),
    "chmod": _sets_id,
    "enable": _has("-f"),
}
