"""Where the subcommand of a program stands: behind options, and the values that they take.

What an option of a program that is not in the table takes is not known. Then the word behind it is both: its value, and the
subcommand.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from brasstag.policy.shell.commands import Command, Word

_DOCKER = "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey --connection --url"
_KUBE = (
    "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as --as-group --as-uid --cache-dir"
    " --certificate-authority --client-certificate --client-key --request-timeout --tls-server-name --profile -v"
)
_NPM = "-C --prefix --dir --cwd --registry --userconfig --globalconfig --cache -w --workspace --loglevel --filter"
_PIP = (
    "--cache-dir --log --proxy --retries --timeout --exists-action --trusted-host --cert --client-cert --python"
    " --keyring-provider --use-feature --use-deprecated"
)
_APT = "-o --option -c --config-file -t --target-release --default-release -a --host-architecture"
_DNF = "-c --config -x --exclude --enablerepo --disablerepo --repo --installroot --releasever --setopt -d -e"
_SYSTEMCTL = (
    "-H --host -M --machine -t --type -p --property -s --signal --root --image -n --lines -o --output --state"
    " --kill-whom --job-mode --what --preset-mode"
)
_AWS = (
    "--profile --region --output --endpoint-url --query --color --ca-bundle --cli-read-timeout --cli-connect-timeout"
    " --cli-binary-format"
)

VALUED: Mapping[str, frozenset[str]] = {
    program: frozenset(options.split())
    for programs, options in (
        (
            "git",
            "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --list-cmds --shallow-file",
        ),
        ("docker podman nerdctl buildah", _DOCKER),
        (
            "kubectl oc k3s helm kustomize istioctl",
            f"{_KUBE} --kube-context --registry-config --repository-config",
        ),
        ("npm npx pnpm yarn bun", _NPM),
        ("pip pip3 pipx", _PIP),
        (
            "uv",
            "--cache-dir --python-preference --color --directory --project --config-file --allow-insecure-host -p",
        ),
        ("poetry pdm hatch rye", "-C --directory -P --project -p -e --env --config --data-dir --cache-dir"),
        ("systemctl journalctl loginctl", _SYSTEMCTL),
        ("cargo rustup", "--color -C --config -Z --toolchain"),
        ("go", "-C"),
        ("terraform tofu terragrunt", "-chdir"),
        ("aws", _AWS),
        (
            "gcloud gsutil bq",
            "--project --account --configuration --format --verbosity --impersonate-service-account",
        ),
        ("az", "--subscription --output -o --query --resource-group -g"),
        ("gh glab", "-R --repo --hostname"),
        ("apt apt-get aptitude apt-cache", _APT),
        ("dnf yum microdnf zypper", _DNF),
        ("pacman", "-b --dbpath -r --root --config --arch --cachedir --gpgdir --logfile"),
        ("apk", "-p --root -X --repository --keys-dir --repositories-file --arch"),
        ("brew", "--prefix"),
        ("hg", "-R --repository --cwd --config --encoding --color --pager"),
        ("svn", "--config-dir --config-option --username --password"),
        ("tmux", "-L -S -f -c -T"),
        ("heroku flyctl fly vercel netlify", "-a --app -r --remote --token -t --scope --cwd --team"),
        ("ansible-vault ansible-galaxy", "--vault-id --vault-password-file"),
        ("conda mamba micromamba", "-n --name -p --prefix"),
    )
    for program in programs.split()
}
"""Options before the subcommand that take the next word, by program."""

_NO_OPTIONS: frozenset[str] = frozenset()
_NEVER = re.compile(r"(?!)")


def is_option(word: Word) -> bool:
    """Say whether a word is an option; ``+nightly`` is one of cargo."""
    return len(word.text) > 1 and word.text[0] in "-+"


def places(words: Sequence[Word], start: int, program: str) -> Iterator[int]:
    """Yield where the next operand behind ``start`` may stand, the nearest first."""
    valued = VALUED.get(program, _NO_OPTIONS)
    waiting = [start]
    seen = {start}
    while waiting:
        index = waiting.pop(0)
        if index >= len(words):
            continue
        word = words[index]
        if word.splits or not is_option(word):
            yield index
            continue
        takes_next = word.text in valued
        takes_none = word.text == "--" or "=" in word.text
        behind = (index + 2,) if takes_next else (index + 1,) if takes_none else (index + 1, index + 2)
        for one in behind:
            if one not in seen:
                seen.add(one)
                waiting.append(one)


def option_values(words: Sequence[Word], options: str) -> Iterator[Word]:
    """Yield the values of options, which are named with spaces between them.

    A value is the next word, or glued to the option, which may stand behind other letters. A long option may be cut short.
    """
    exact, glued, long = _parsed(options)
    for index in range(1, len(words)):
        word = words[index]
        text = word.text
        if text[:1] != "-" or len(text) < 2:
            continue
        option, equals, value = text.partition("=")
        if option not in exact and not (len(option) > 3 and any(one.startswith(option) for one in long)):
            cluster = glued.match(text)
            if not cluster:
                continue
            equals = value = text[cluster.end() :]
        if equals:
            yield Word(value, word.computed, word.pattern)
        elif index + 1 < len(words):
            yield words[index + 1]


@cache
def _parsed(options: str) -> tuple[frozenset[str], re.Pattern[str], tuple[str, ...]]:
    """Return options, what finds one of their letters among others, and the long ones."""
    several = options.split()
    letters = "".join(one[1] for one in several if len(one) == 2)
    glued = re.compile(rf"-[A-Za-z]*?[{letters}]") if letters else _NEVER
    return frozenset(several), glued, tuple(one for one in several if one.startswith("--"))


def subcommands(words: Sequence[Word]) -> Iterator[str]:
    """Yield the words of a command that may be its subcommand."""
    program = words[0].text.rpartition("/")[2]
    yield from (words[index].text for index in places(words, 1, program))


def behind_subcommands(command: Command, names: Sequence[str]) -> int | None:
    """Return where the words behind these subcommands begin; None where the command has others."""
    index = 1
    for name in names:
        found = (at for at in places(command.words, index, command.name) if command.words[at].text == name)
        at = next(found, None)
        if at is None:
            return None
        index = at + 1
    return index
