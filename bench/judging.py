"""Judging a command by the shipped rules: read anew, and once more, against splitting its words with shlex."""

import shlex

from measuring import goal, interleaved, line, ratio, title

from brasstag.policy.profiles import ToolFacts
from brasstag.policy.shell.read import read_code
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.words.calls import Call
from brasstag.words.previews import Preview

COMMANDS = (
    "ls -la", "git status", "git log --oneline -5", "python3 -m pytest -q tests", "pip install -r requirements.txt",
    "cat a | sort | uniq -c | sort -rn | head", "cd src && make -j4 && make test || echo failed", "rm -f build/*.o",
    "find . -name '*.py' | xargs grep -n TODO", "sed -i 's/foo/bar/g' src/*.py", "npm run build && npm test",
    "for f in *.md; do wc -l \"$f\"; done", "docker compose logs -f web", "tar czf out.tgz src", "curl -sSL -o a.html x.org",
    "sqlite3 app.db 'select count(*) from users'",
)  # fmt: skip
SHELL = ToolFacts("shell", approval="auto", effects="files")


async def run() -> None:
    rules = Rules(shipped_rules())
    calls = [(Call("c", "shell", {"command": text}, "", "", ""), Preview(runs=(text,))) for text in COMMANDS]

    async def judge_again() -> None:
        for call, preview in calls:
            rules.judge(call, preview, SHELL)

    async def judge_anew() -> None:
        read_code.cache_clear()
        await judge_again()

    async def split() -> None:
        for text in COMMANDS:
            shlex.split(text)

    found = await interleaved(
        {"read anew": judge_anew, "once more": judge_again, "shlex.split": split}, calls=20, rounds=15
    )
    title(f"Judging {len(COMMANDS)} commands by the shipped rules")
    for name, seconds in found.items():
        line(name, [one / len(COMMANDS) for one in seconds])
    goal("read anew / shlex.split", ratio(found["read anew"], found["shlex.split"]), 24.0)
    goal("once more / read anew", ratio(found["once more"], found["read anew"]), 0.4)
