"""The table of commands that run other commands, and of the options that take a shell's text."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How to find the command behind a wrapper's own words."""

    valued: str = ""
    """Options that take the next word, with spaces between them."""
    operands: int = 0
    """Words before the command that are not options."""
    adds: bool = False
    """Whether the wrapper adds words of its own."""
    behind_dashes: bool = False
    """Whether the command stands behind ``--`` only."""
    dash: bool = False
    """Whether a lone ``-`` is one of its options."""
    text: bool = False
    """Whether the command is text for a shell, so that an assignment is part of it."""


PLAIN = Wrapper()
_BEHIND = Wrapper(behind_dashes=True)
_NPX = Wrapper("-p --package -w --workspace --filter --cwd")

_DOCKER = Wrapper(
    "-e --env --env-file -v --volume -w --workdir -u --user -p --publish --name --network --entrypoint --mount -l --label -h"
    " --hostname --platform -m --memory --cpus --detach-keys --add-host --cap-add --cap-drop --device --gpus --pid --ipc"
    " --restart --runtime --security-opt --shm-size --tmpfs --ulimit --volumes-from --pull --userns --index",
    operands=1,
)

WRAPPERS: Mapping[str, Wrapper] = {
    **dict.fromkeys(
        ("!", "nohup", "setsid", "builtin", "unbuffer", "chronic", "coproc", "ifne", "command"), PLAIN
    ),
    **dict.fromkeys(
        ("busybox", "toybox", "catchsegv", "fakeroot", "dbus-run-session", "torsocks", "tsocks", "socksify"),
        PLAIN,
    ),
    **dict.fromkeys(
        ("entr", "valgrind", "firejail", "ssh-agent", "dotenv", "setarch", "linux32", "linux64"), PLAIN
    ),
    "caffeinate": Wrapper("-t -w"),
    "env": Wrapper("-u --unset -C --chdir -a --argv0", dash=True),
    "time": Wrapper("-f --format -o --output"),
    "sudo": Wrapper(
        "-u --user -g --group -h --host -p --prompt -C --close-from -D --chdir -R --chroot -r --role -t --type"
        " -T --command-timeout -U --other-user -a -c"
    ),
    "doas": Wrapper("-u -C"),
    "run0": Wrapper(
        "-u --user -g --group -D --chdir --unit --property --description --slice --nice --setenv"
    ),
    "pkexec": Wrapper("--user"),
    "runuser": Wrapper("-u --user -g --group -G --supp-group -s --shell -w --whitelist-environment"),
    "setpriv": Wrapper(
        "--ruid --euid --reuid --rgid --egid --regid --groups --inh-caps --bounding-set --securebits"
    ),
    "timeout": Wrapper("-s --signal -k --kill-after", operands=1),
    "nice": Wrapper("-n --adjustment"),
    "ionice": Wrapper("-c --class -n --classdata"),
    "chrt": Wrapper("-T --sched-runtime -P --sched-period -D --sched-deadline", operands=1),
    "taskset": Wrapper(operands=1),
    "prlimit": PLAIN,
    "cpulimit": Wrapper("-l --limit -p --pid -e --exe"),
    "numactl": Wrapper("-N --cpunodebind -m --membind -C --physcpubind -i --interleave -p --preferred"),
    "stdbuf": Wrapper("-i -o -e --input --output --error"),
    "exec": Wrapper("-a"),
    "xargs": Wrapper(
        "-I -n -P -L -d -a -s -E --max-args --max-procs --max-chars --delimiter --arg-file --process-slot-var",
        adds=True,
    ),
    "strace": Wrapper("-o -e -p -s -u -E -a -O -S -b -I -P -X -U --output --trace --attach --user --env"),
    "ltrace": Wrapper("-o -e -p -s -u -a -l -n -A -D -F -x"),
    **dict.fromkeys(
        ("perf record", "perf stat", "perf trace"),
        Wrapper(
            "-e --event -o --output -F --freq -c --count -p --pid -t --tid -C --cpu -r --repeat --call-graph"
        ),
    ),
    **dict.fromkeys(("proxychains", "proxychains4"), Wrapper("-f")),
    "proot": Wrapper("-r -R -S -b -m -w -q -k -i --rootfs --bind --mount --pwd --cwd --qemu"),
    "cgexec": Wrapper("-g"),
    "systemd-cat": Wrapper("-t --identifier -p --priority --stderr-priority --level-prefix --namespace"),
    "script": Wrapper(
        "-c --command -E --echo -I --log-in -O --log-out -B --log-io -T --log-timing -m --logging-format -o",
        operands=1,
    ),
    "chroot": Wrapper("--userspec --groups", operands=1),
    "unshare": Wrapper(
        "-R --root -w --wd -S --setuid -G --setgid --map-user --map-group --propagation --setgroups"
    ),
    "nsenter": Wrapper("-t --target -S --setuid -G --setgid"),
    "bwrap": Wrapper("--chdir --setenv --unsetenv --proc --dev --tmpfs --dir --uid --gid --hostname --args"),
    "flock": Wrapper("-w --timeout -E --conflict-exit-code", operands=1),
    "systemd-run": Wrapper(
        "-p --property -u --unit --uid --gid -E --setenv --slice --description -M --machine -H --host --nice"
        " --working-directory --on-active --on-boot --on-calendar --timer-property --service-type"
    ),
    "systemd-inhibit": Wrapper("--what --who --why --mode"),
    "xvfb-run": Wrapper("-n -s -e -f -w -p --server-num --server-args --error-file --auth-file"),
    "faketime": Wrapper("-f", operands=1),
    "uv run": Wrapper(
        "--with --with-editable --with-requirements --python -p --extra --group --env-file --package"
    ),
    **dict.fromkeys(
        ("uvx", "uv tool run", "pipx run"), Wrapper("--from --with --python -p --spec --index-url")
    ),
    **dict.fromkeys(("poetry run", "pipenv run", "hatch run", "rye run", "pdm run", "pixi run"), PLAIN),
    **dict.fromkeys(
        ("bundle exec", "rbenv exec", "pyenv exec", "asdf exec", "nodenv exec", "dotenvx run"), PLAIN
    ),
    **dict.fromkeys(
        ("npm exec", "npm x", "npx", "bunx", "pnpm exec", "pnpm dlx", "yarn exec", "yarn dlx"), _NPX
    ),
    **dict.fromkeys(("conda run", "mamba run", "micromamba run"), Wrapper("-n --name -p --prefix --cwd")),
    **dict.fromkeys(("op run", "doppler run", "mise exec", "mise x", "chamber exec"), _BEHIND),
    **dict.fromkeys(("direnv exec", "aws-vault exec", "sops exec-env"), Wrapper(operands=1)),
    **dict.fromkeys(
        (
            f"{program} {verb}"
            for program in ("docker", "podman", "nerdctl")
            for verb in ("run", "exec", "container run", "container exec", "compose run", "compose exec")
        ),
        _DOCKER,
    ),
    "docker-compose run": _DOCKER,
    "docker-compose exec": _DOCKER,
    "kubectl exec": _BEHIND,
    "kubectl run": _BEHIND,
    "oc exec": _BEHIND,
    "ip netns exec": Wrapper(operands=1),
    "git bisect run": PLAIN,
    "git submodule foreach": Wrapper(text=True),
}
"""Commands whose later words are a command."""
WRAPPER_KEYS: Mapping[str, tuple[str, ...]] = {
    name: tuple(key for key in WRAPPERS if key.partition(" ")[0] == name)
    for name in dict.fromkeys(key.partition(" ")[0] for key in WRAPPERS)
}
"""By the name of their program."""

TEXT_OPTIONS: Mapping[str, str] = {
    **dict.fromkeys(("su", "script", "flock", "runuser", "sg"), "-c --command --session-command"),
    "env": "-S --split-string",
    "fish": "-C --command --init-command",
    "nix-shell": "--run --command",
    **dict.fromkeys(("npm", "npx", "pnpm"), "-c --call"),
}
"""Options of other commands whose value is a shell's text."""
