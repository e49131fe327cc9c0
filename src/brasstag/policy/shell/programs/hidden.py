"""Options, variables and small programs by which everyday commands run others."""

import re
from collections.abc import Mapping
from itertools import pairwise

from brasstag.policy.globs import Expression, anywhere
from brasstag.policy.shell.commands import Command
from brasstag.policy.shell.programs.editors import runs_by_editor
from brasstag.policy.shell.programs.standard_input import READERS, takes_code
from brasstag.policy.shell.programs.variables import assigned

_SCRIPT = anywhere(
    r"\bsystem\b", r"\bexec\w*\b", r"\bspawn\w*\b", r"\bpopen\w*\b", r"\bfork\b", r"\beval\b", "`",
    r"\bqx\b", "%x", "child_process", "shell_exec", "passthru", "proc_open", r"io\.popen", r"os\.execute",
    r"\|\s*[\"']", r"[\"']\s*\|", r"\bunlink\w*\b", r"\brmSync\b", r"\brmdir\w*\b", r"\brmtree\b", "rm_r",
    "FileUtils", r"os:cmd", r"System\.cmd", "run-program", "run-shell", r"\.execute\(", ":!",
)  # fmt: skip
_EVERY = anywhere("")

_RUN_MORE: Mapping[str, Expression] = {
    "git": anywhere(
        r"--config-env|--upload-pack|--receive-pack|--exec|\bext::|--open-files-in-pager| grep .*-O",
        r"\bconfig\b.* (?i:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath)|alias\.|filter\.|diff\.|include)",
        r"\bdifftool\b|\bmergetool\b|\bfilter-(?:branch|repo)\b|\brebase\b.* -x|\bclone\b.* -u|--template|--smtp-server=/",
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
            "@include",
            r" -l\b|--load",
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
        (
            *(
                "perl",
                "ruby",
                "node",
                "nodejs",
                "php",
                "lua",
                "deno",
                "bun",
                "tclsh",
                "osascript",
                "Rscript",
                "R",
            ),
            *(
                "julia",
                "octave",
                "octave-cli",
                "scala",
                "groovy",
                "erl",
                "elixir",
                "guile",
                "sbcl",
                "clisp",
                "racket",
            ),
            *("ghci", "ghc", "raku", "swift", "pwsh", "crystal", "nim", "clj", "bb", "jshell", "iex"),
        ),
        _SCRIPT,
    ),
    **dict.fromkeys(
        ("tar", "bsdtar", "gtar"),
        anywhere(
            "--checkpoint-action",
            "--to-command",
            "--use-compress",
            r" -\w*[IF] ",
            "--rsh",
            "--rmt",
            "--info-script",
            "--new-volume-script",
        ),
    ),
    **dict.fromkeys(("zip", "unzip"), anywhere(" -TT", "--unzip-command")),
    "rsync": anywhere(r" -\w*e\b", "--rsh", "--rsync-path"),
    **dict.fromkeys(("scp", "sftp"), anywhere(" -S", r"Command")),
    "tcpdump": anywhere(" -z"),
    **dict.fromkeys(("gdb", "lldb"), anywhere(" -e", " -x", "--command", "--batch", "--args")),
    "lldb": anywhere(r" -[oOskKSQb]\b", "--one-line", "--source", "--batch", "--command"),
    **dict.fromkeys(
        ("gcc", "g++", "cc", "c++", "clang", "clang++", "ld"),
        anywhere(" -wrapper", "-f?plugin", " -B", "-specs"),
    ),
    "go": anywhere("-toolexec", " -exec", "-vettool"),
    "cargo": anywhere("--config"),
    "rustc": anywhere("linker="),
    **dict.fromkeys(("npm", "pnpm", "yarn"), anywhere("script-shell", r"\bconfig\b.* set\b")),
    "rg": anywhere(r"--pre[ =]", "--hostname-bin"),
    "fzf": anywhere("--preview", "--bind"),
    **dict.fromkeys(("ag", "ack", "bat", "delta"), anywhere("--pager", "--paging")),
    "wget": anywhere("--use-askpass"),
    "tmux": anywhere(r"\b(?:new|send|run|split|respawn|if|pipe|neww|splitw|popup|display-popup)[\w-]*\b"),
    "screen": anywhere(r" -\w*[dDmX]"),
    **dict.fromkeys(("ssh-keygen", "ssh-add"), anywhere(" -[Ds] ")),
    "openssl": anywhere(r"\bengine\b", "-provider-path"),
    "compgen": anywhere(" -[CFW]"),
    "make": anywhere(" SHELL=", "--ev", "MAKEFLAGS="),
    "sort": anywhere("--compress-prog"),
    "split": anywhere("--filter"),
    **dict.fromkeys(
        ("sqlite3", "duckdb"),
        anywhere(
            r"(?m:^|[ \n'])\.(?:sh|sy|load|www|excel)",
            r"\.(?:o|import|read|once|output|open|log|backup|save)\w*\b[^;\n]*\|",
            r"\.read\s+[\"']?/(?:dev|proc)/",
            r"\b(?:load_extension|edit|fts3_tokenizer)\s*\(",
            r" -e\b",
        ),
    ),
    "psql": anywhere(
        r"\\!",
        r"\\i\w*\s+(?:/dev|/proc|-)",
        r"\b(?i:program)\b",
        r"\\\w+[^\n]*\|",
        r"\\(?:set|setenv|e|ef|ev)\b[^\n]*(?:`|EDITOR|PAGER)",
    ),
    **dict.fromkeys(
        ("mysql", "mariadb"),
        anywhere(r"\\[!P.e]", r"(?mi:^|[;'\"= ])(?:system|pager|source|edit)\s+\S", "--pager"),
    ),
    "dc": anywhere("!"),
    "gnuplot": anywhere(r"\bsystem\b", "!", "`", r"[\"']\s*[|<]", r"\bload\b"),
    "m4": anywhere("syscmd"),
    **dict.fromkeys(("pip", "pip3"), anywhere(r"install\s.*(?:https?://|git\+)")),
    **dict.fromkeys(("mapfile", "readarray"), anywhere(" -C")),
    "complete": anywhere(r" -[CFW]"),
    "bind": anywhere(" -x"),
    **dict.fromkeys(
        ("fc", "expect", "run-parts", "start-stop-daemon", "rlwrap", "ld.so", "ld-linux-x86-64.so.2"), _EVERY
    ),
}
"""What in the line of a command makes it run another one."""

_LOADING = re.compile(
    r"(?:GIT_CONFIG\w*|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|LESSKEY\w*|LESSCLOSE|GIT_\w*(?:PAGER|EDITOR|SSH|SSH_COMMAND|ASKPASS|PROXY_COMMAND|EXTERNAL_DIFF)|PAGER|EDITOR|VISUAL|MANPAGER|LESSOPEN"
    r"|BROWSER|PERL5OPT|RUBYOPT|NODE_OPTIONS|PYTHONSTARTUP|PYTHONINSPECT|PYTHONBREAKPOINT|JAVA_TOOL_OPTIONS|TAR_OPTIONS|MAKEFILES|(?:GNU)?MAKEFLAGS"
    r"|(?i:npm_config_(?:script_shell|shell|node_options|git|editor|init_module|userconfig|globalconfig)))"
    r"=(?!(?:cat|true|:|-?j ?\d*|)$)"
)
"""Variables that everyday commands take commands or code from."""
_PROMPT = re.compile(r"PS[0-4]=.*?(?:\$\(|`)", re.DOTALL)
"""Prompts that a shell evaluates."""


_HARMLESS_SETTING = re.compile(
    r"(?:color|user|author|committer|advice|log|init|pull|push|fetch|rerere|column|status|commit|tag|branch|apply|blame|gc|pack"
    r"|safe|grep|rebase|submodule|transfer|index|feature|format|am|checkout|stash|http|https|url|remote)\.(?!.*(?:proxy|"
    r"command|program|helper|template|askpass|path|editor|tool|vcs|uploadpack|receivepack|ssl))"
    r"|core\.(?:abbrev|autocrlf|quotepath|eol|safecrlf|filemode|symlinks|ignorecase|precomposeunicode|compression|preloadindex"
    r"|longpaths|whitespace|commentchar|bigfilethreshold|logallrefupdates|untrackedcache)\b"
    r"|(?:diff|merge)\.(?:renames|renamelimit|noprefix|mnemonicprefix|algorithm|context|color\w*|conflictstyle|ff|log)\b"
    r"|(?:gpg|commit|tag)\.(?:gpgsign|format)\b",
    re.IGNORECASE,
)
"""Settings of git that make it run nothing."""


def runs_more(command: Command) -> bool:
    """Say whether an option, a variable or a small program makes an everyday command run another."""
    if any(_LOADING.match(one) or _PROMPT.match(one) for one in assigned(command)):
        return True
    if runs_by_editor(command) or (command.name == "git" and _sets_more(command)):
        return True
    expression = _RUN_MORE.get(command.name)
    if expression is None:
        return False
    fed = command.fed if command.name in READERS and takes_code(command) else None
    return expression.matches(command.text) or (fed is not None and expression.matches(fed.text))


def _sets_more(command: Command) -> bool:
    """Say whether git is given a setting of which it is not known that it runs nothing."""
    words = [*command.arguments, ""]
    pairs = pairwise(words)
    given = (word[2:] or behind for word, behind in pairs if word.startswith("-c") or word == "--config")
    # In other places -c is an option of the subcommand, such as that of git commit.
    return any("." in one and not _HARMLESS_SETTING.match(one) for one in given)
