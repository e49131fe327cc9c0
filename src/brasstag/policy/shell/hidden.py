"""Options, variables and small programs by which everyday commands run others."""

import re
from collections.abc import Iterator, Mapping

from brasstag.policy.globs import Expression, anywhere
from brasstag.policy.shell.commands import Command

_SCRIPT = anywhere(
    r"\bsystem\b", r"\bexec\w*\b", r"\bspawn\w*\b", r"\bpopen\w*\b", r"\bfork\b", r"\beval\b", "`",
    r"\bqx\b", "%x", "child_process", "shell_exec", "passthru", "proc_open", r"io\.popen", r"os\.execute",
    r"\|\s*[\"']", r"[\"']\s*\|", r"\bunlink\w*\b", r"\brmSync\b", r"\brmdir\w*\b", r"\brmtree\b", "rm_r",
    "FileUtils",
)  # fmt: skip
_EVERY = anywhere("")

_RUN_MORE: Mapping[str, Expression] = {
    "git": anywhere(
        r" -c\s*(?i:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass)|alias\.|pager\.|diff\.|filter\.)",
        r" -c\s*(?i:sequence\.editor|credential\.|merge\.|gpg\.|protocol\.ext|uploadpack\.|browser\.|man\.)",
        r"--config-env|--upload-pack|--receive-pack|--exec|\bext::|--open-files-in-pager| grep .*-O",
        r"\bconfig\b.* (?i:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath)|alias\.|filter\.|diff\.)",
        r"\bdifftool\b|\bmergetool\b|\bfilter-branch\b|\brebase\b.* -x",
    ),
    **dict.fromkeys(
        ("awk", "gawk", "mawk", "nawk"),
        anywhere(
            r"\bsystem\s*\(",
            r"\|\s*getline",
            r"\|&",
            r"\"\s*\|",
            r"\|\s*\"",
            r"\bprintf?\b[^|{}/]*\|",
            "@load",
            r"-f\s*(?:-|/dev/)",
        ),
    ),
    **dict.fromkeys(
        ("sed", "gsed"),
        anywhere(
            r"(?:[\s;{0-9$/])e(?:\s|$|;|\})",
            *(
                rf"s{mark}[^{mark}]*{mark}[^{mark}]*{mark}\w*e"
                for mark in ("/", r"\|", "#", ",", "@", "!", ":")
            ),
        ),
    ),
    **dict.fromkeys(
        ("perl", "ruby", "node", "nodejs", "php", "lua", "deno", "bun", "tclsh", "osascript", "Rscript"),
        _SCRIPT,
    ),
    **dict.fromkeys(
        ("vim", "vi", "nvim", "view", "ex", "emacs"),
        anywhere(r" (?:-c|\+|--cmd|--eval|--command)\s*.*(?:!|system|shell|call)"),
    ),
    **dict.fromkeys(
        ("tar", "bsdtar", "gtar"),
        anywhere(
            "--checkpoint-action",
            "--to-command",
            "--use-compress",
            r" -\w*I ",
            "--rsh",
            "--rmt",
            "--info-script",
        ),
    ),
    **dict.fromkeys(("zip", "unzip"), anywhere(" -TT", "--unzip-command")),
    "rsync": anywhere(r" -\w*e\b", "--rsh", "--rsync-path"),
    **dict.fromkeys(("scp", "sftp"), anywhere(" -S", r"Command")),
    "tcpdump": anywhere(" -z"),
    **dict.fromkeys(("man", "less", "more"), anywhere(r" (?:-P|--pager|-H|\+!|\+\|)")),
    **dict.fromkeys(("gdb", "lldb"), anywhere(" -e", " -x", "--command", "--batch", "--args")),
    "make": anywhere(" SHELL=", "--eval", r" -f\s*(?:-|/dev/)"),
    "sort": anywhere("--compress-prog"),
    "split": anywhere("--filter"),
    **dict.fromkeys(
        ("sqlite3", "mysql", "psql"),
        anywhere(r"\.shell", r"\.system", r"\\!", "load_extension", r"\bPROGRAM\b"),
    ),
    **dict.fromkeys(("pip", "pip3"), anywhere(r"install\s.*(?:https?://|git\+)")),
    **dict.fromkeys(("mapfile", "readarray"), anywhere(" -C")),
    "complete": anywhere(r" -[CF]"),
    "bind": anywhere(" -x"),
    **dict.fromkeys(
        ("expect", "run-parts", "start-stop-daemon", "rlwrap", "ld.so", "ld-linux-x86-64.so.2"), _EVERY
    ),
}
"""What in the line of a command makes it run another one."""

_LOADING = re.compile(
    r"(?:GIT_\w*(?:PAGER|EDITOR|SSH|SSH_COMMAND|ASKPASS|PROXY_COMMAND|EXTERNAL_DIFF)|PAGER|EDITOR|VISUAL|MANPAGER|LESSOPEN"
    r"|BROWSER|PERL5OPT|RUBYOPT|NODE_OPTIONS|PYTHONSTARTUP|JAVA_TOOL_OPTIONS|TAR_OPTIONS)=(?!(?:cat|true|:|)$)"
)
"""Variables that everyday commands take commands or code from."""


def runs_more(command: Command) -> bool:
    """Say whether an option, a variable or a small program makes an everyday command run another."""
    if any(_LOADING.match(assignment) for assignment in (*command.assigns, *_exported(command))):
        return True
    expression = _RUN_MORE.get(command.name)
    return expression is not None and expression.matches(command.text)


def _exported(command: Command) -> Iterator[str]:
    if command.name in ("export", "declare", "env"):
        yield from command.arguments
