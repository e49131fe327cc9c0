import pytest

from brasstag.sandbox.workspace.globs import matcher
from brasstag.words.errors import Code
from tests.sandbox.support import fails


@pytest.mark.parametrize(
    ("globs", "yes", "no"),
    [
        ([], ["a", "b/c"], []),
        (["*.md"], ["a.md", "x/y/a.md", ".md"], ["a.mdx", "a.MD", "md"]),
        (["src/*.py"], ["src/a.py"], ["a.py", "src/b/a.py", "x/src/a.py"]),
        (["src/**"], ["src/a", "src/b/c"], ["src", "x/src/a"]),
        (["**/test_*.py"], ["test_a.py", "x/y/test_b.py"], ["atest_a.py"]),
        (["a/**/z"], ["a/z", "a/b/c/z"], ["a/bz", "az"]),
        (["?.t[xz]t"], ["a.txt", "é.tzt"], ["ab.txt", "a.tat"]),
        (["[!a-c]*"], ["d", "x/dog"], ["a", "cat"]),
        (["*.{js,ts}"], ["a.js", "b.ts"], ["a.jsx", "a,ts"]),
        (["a,b"], ["a,b"], ["a"]),
        (["*.py", "!test_*", "!old/**"], ["a.py", "old.py"], ["test_a.py", "x/test_b.py", "old/a.py", "a.c"]),
        (["!*.min.js"], ["a.js"], ["a.min.js"]),
        (["[", "a+(b)|c$"], ["[", "a+(b)|c$"], ["aab", "c"]),
        (["\\*"], ["*"], ["a"]),
        (["[]^\\]"], ["]", "^", "\\"], ["a"]),
        (["new\nline*"], ["new\nline.txt"], ["newline"]),
    ],
)
def test_globs_choose_files(globs: list[str], yes: list[str], no: list[str]) -> None:
    wants = matcher(globs)
    assert [path for path in yes if not wants(path)] == []
    assert [path for path in no if wants(path)] == []


@pytest.mark.parametrize("glob", ["{a,b", "a}", "{{a}", "[z-a]", "\ud800"])
def test_what_is_no_glob_is_refused_with_words(glob: str) -> None:
    with fails(Code.INVALID_ARGUMENTS) as caught:
        matcher([glob])
    caught.value.message.encode()


def test_a_glob_made_to_take_long_does_not() -> None:
    assert not matcher(["*a" * 60 + "b"])("a" * 250)
