"""Subcommands and options with several names: ``docker image push`` is ``docker push``, ``npm i`` is ``npm install``."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from brasstag.policy.shell.commands import Word
from brasstag.policy.shell.programs.options import places

_IMAGES = "build history import load pull push save tag"
_CONTAINERS = (
    "attach commit cp create diff exec export kill logs pause port rename restart run start stats stop top unpause update"
    " wait"
)
_DOCKER = (
    "; ".join(
        f"{verb}|{noun} {verb}"
        for noun, verbs in (("image", _IMAGES), ("container", _CONTAINERS))
        for verb in verbs.split()
    )
    + "; build|image build|buildx build|buildx b|builder build; rm|container rm|container remove"
    "; rmi|image rm|image remove; images|image ls|image list; ps|container ls|container ps|container list"
    "; info|system info; events|system events; volume rm|volume remove; network rm|network remove"
)
_NPM = (
    "install|i|add|in|ins|inst|insta|instal|isnt|isnta|isntal|isntall; ci|ic|clean-install|install-clean|isntall-clean"
    "; install-test|it; install-ci-test|cit|sit|clean-install-test; uninstall|un|unlink|remove|rm|r"
    "; update|u|up|upgrade|udpate; run|run-script|rum|urn; exec|x; test|t|tst; config|c; init|create|innit"
    "; link|ln; ls|list; ll|la; view|v|info|show; search|s|se|find; rebuild|rb"
    "; dedupe|ddp; explain|why; version|verison; owner|author; docs|home"
    "; bugs|issues; adduser|add-user|login; dist-tag|dist-tags; org|ogr; set|config set; get|config get"
)
_KUBE = (
    "* namespaces|* namespace|* ns; * pods|* pod|* po; * deployments|* deployment|* deploy; * services|* service|* svc"
    "; * nodes|* node|* no; * secrets|* secret; * configmaps|* configmap|* cm; * ingresses|* ingress|* ing"
    "; * persistentvolumes|* persistentvolume|* pv; * persistentvolumeclaims|* persistentvolumeclaim|* pvc"
    "; * statefulsets|* statefulset|* sts; * daemonsets|* daemonset|* ds; * replicasets|* replicaset|* rs"
    "; * cronjobs|* cronjob|* cj; * jobs|* job; * serviceaccounts|* serviceaccount|* sa"
    "; * customresourcedefinitions|* customresourcedefinition|* crds|* crd"
)
_GROUPS = {
    "docker podman nerdctl": _DOCKER,
    "npm": _NPM,
    "pnpm": "install|i; remove|rm|uninstall|un; update|up|upgrade; list|ls; run|run-script; test|t; link|ln; rebuild|rb",
    "bun": "add|a; install|i; remove|rm|r; exec|x",
    "kubectl oc": _KUBE,
    "cargo": "build|b; check|c; doc|d; run|r; test|t; remove|rm",
    "git": "add|stage; blame|annotate; push|send-pack; fetch|fetch-pack; remote remove|remote rm",
    "helm": "uninstall|un|del|delete; list|ls; pull|fetch; dependency|dep|dependencies; upgrade|up; history|hist; install|i",
    "gh": "codespace|cs; pr create|pr new; issue create|issue new; release create|release new; pr checkout|pr co|co",
    "brew": "uninstall|remove|rm; list|ls; update|up; info|abv; doctor|dr; link|ln",
    "conda mamba micromamba": "remove|uninstall; update|upgrade",
    "dnf yum microdnf": "remove|erase|rm; install|in; upgrade|update|up; autoremove|autoerase; list|ls",
    "zypper": "install|in; remove|rm; update|up; dist-upgrade|dup; refresh|ref; addrepo|ar; removerepo|rr",
    "svn": "commit|ci; checkout|co; delete|del|remove|rm; move|mv|rename|ren; copy|cp; status|stat|st; update|up; diff|di",
    "hg": "commit|ci; update|up|checkout|co; status|st; remove|rm; rename|mv|move; copy|cp",
    "rustup": "update|up|upgrade; uninstall|toolchain uninstall; install|toolchain install",
    "terraform tofu": "apply -destroy|destroy",
    "gem": "install|i; uninstall|remove",
    "systemctl": "try-restart|condrestart; reload-or-restart|force-reload",
}
_EQUALS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    program: {
        name: tuple(other for other in group.split("|") if other != name)
        for group in groups.split("; ")
        for name in group.split("|")
    }
    for programs, groups in _GROUPS.items()
    for program in programs.split()
}
"""Other names of a subcommand, by program; behind a star stands what comes behind a subcommand."""
_CUT_SHORT = frozenset(
    {"npm", "hg", "tmux", "ip", "tc", "nmcli", "gradle", "gradlew", "btrfs", "opam", "dune"}
)
"""Programs that take the beginning of a subcommand for all of it."""
_FEWEST_LETTERS = 2

_FORCE = "-f|--force"
_OPTION_GROUPS = {
    "git push": f"{_FORCE}|+*; -d|--delete|:*; -u|--set-upstream; -n|--dry-run",
    "git send-pack": f"{_FORCE}|+*",
    "git commit": "-n|--no-verify; -a|--all; -m|--message; -S|--gpg-sign; -s|--signoff",
    "git branch": f"{_FORCE}; -d|--delete; -m|--move; -D|--delete",
    "git tag": f"{_FORCE}; -d|--delete; -s|--sign",
    "git clean": f"{_FORCE}; -n|--dry-run",
    "git checkout": _FORCE,
    "git switch": f"{_FORCE}; -f|--discard-changes; -C|--force-create; -c|--create",
    "git add": f"{_FORCE}; -A|--all; -p|--patch",
    "git rm": f"{_FORCE}",
    "git rebase": "-i|--interactive; -x|--exec; -f|--force-rebase",
    "git fetch": f"{_FORCE}; -p|--prune; -t|--tags",
    "git pull": f"{_FORCE}; -r|--rebase",
    "rm": f"-r|-R|--recursive; {_FORCE}; -i|--interactive",
    "cp": f"-r|-R|--recursive; {_FORCE}; -a|--archive",
    "mv": _FORCE,
    "ln": f"{_FORCE}; -s|--symbolic",
    "chmod": "-R|--recursive",
    "chown": "-R|--recursive",
    "sed": "-i|--in-place; -n|--quiet; -e|--expression; -f|--file; -E|-r|--regexp-extended",
    "curl": (
        "-o|--output; -O|--remote-name; -X|--request; -d|--data; -k|--insecure; -T|--upload-file; -F|--form; -u|--user"
        "; -K|--config; -H|--header; -x|--proxy; -L|--location"
    ),
    "wget": "-O|--output-document; -i|--input-file; -r|--recursive; -e|--execute; -P|--directory-prefix",
    "docker": "-v|--volume; -e|--env; -p|--publish; -u|--user; -d|--detach; -f|--force; -a|--all; -t|--tag; -w|--workdir",
    "kubectl": "-n|--namespace; -f|--filename; -A|--all-namespaces; -l|--selector; -o|--output; -c|--container",
    "npm": "-g|--global|--location=global; -f|--force; -D|--save-dev; -w|--workspace; -y|--yes",
    "pip": "-r|--requirement; -e|--editable; -t|--target; -U|--upgrade; -i|--index-url; -y|--yes",
    "tar": "-x|--extract|--get; -c|--create; -t|--list; -C|--directory; -f|--file; -P|--absolute-names",
    "psql": "-c|--command; -f|--file; -d|--dbname",
    "mysql": "-e|--execute; -p|--password",
    "make": "-f|--file|--makefile; -C|--directory; -B|--always-make; -n|--dry-run|--just-print",
    "apt": "-y|--yes|--assume-yes; -o|--option",
    "apt-get": "-y|--yes|--assume-yes; -o|--option",
    "systemctl": "-f|--force; -H|--host; -M|--machine",
    "rsync": "-e|--rsh; -r|--recursive; -a|--archive; -n|--dry-run",
    "gpg": "-s|--sign; -e|--encrypt; -d|--decrypt; -o|--output",
    "helm": "-n|--namespace; -f|--values",
    "cargo": "-p|--package; -Z|--unstable",
}
_OPTION_NAMES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    key: tuple(tuple(group.split("|")) for group in groups.split("; "))
    for key, groups in _OPTION_GROUPS.items()
}


def respelt(words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield a command with each other name that its subcommand has."""
    program = words[0].text.rpartition("/")[2]
    equals = _EQUALS.get(program)
    if equals is None:
        return
    for first in places(words, 1, program):
        name = words[first].text
        yield from _replaced(words, first, first, equals.get(name, ()))
        for second in places(words, first + 1, program):
            noun, slash, rest = words[second].text.partition("/")
            nearer = (*words[:second], Word(noun), Word(rest), *words[second + 1 :]) if slash else words
            if slash and f"* {noun}" in equals:
                yield tuple(nearer)  # kubectl delete ns/prod
            yield from _replaced(nearer, first, second, equals.get(f"{name} {noun}", ()))
            yield from _replaced(nearer, second, second, equals.get(f"* {noun}", ()))


def _replaced(
    words: Sequence[Word], first: int, last: int, others: Sequence[str]
) -> Iterator[tuple[Word, ...]]:
    """Yield words with others in the place of two; options between them stay."""
    between = words[first + 1 : last]
    for other in others:
        names = (Word(name) for name in other.removeprefix("* ").split())
        yield (*words[:first], *between, *names, *words[last + 1 :])


def is_cut_short(program: str, given: str, meant: str) -> bool:
    """Say whether a program takes a word for the longer one that is meant, as npm takes ``pub`` for ``publish``."""
    return (
        program in _CUT_SHORT
        and len(given) >= _FEWEST_LETTERS
        and meant.startswith(given)
        and given not in _EQUALS.get(program, ())
    )


@lru_cache(maxsize=512)
def option_names(program: str, subcommand: str, option: str) -> tuple[tuple[str, ...], ...]:
    """Return the names of an option, itself first; several letters in one word are as many options, each with its names."""
    groups = (*_OPTION_NAMES.get(f"{program} {subcommand}", ()), *_OPTION_NAMES.get(program, ()))
    names = {one: group for group in reversed(groups) for one in group}
    letters = [f"-{letter}" for letter in option[1:]] if option[:1] == "-" and option[:2] != "--" else []
    if option not in names and letters and all(letter in names for letter in letters):
        return tuple((letter, *names[letter]) for letter in letters)
    return ((option, *names.get(option, ())),)
