import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.sandbox.workspace.paths import ancestors, parse_path, splice
from brasstag.words.errors import Code, SecurityError


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", "."),
        (".", "."),
        ("./", "."),
        ("a/..", "."),
        ("a", "a"),
        ("a/", "a"),
        ("./a//b/./c/", "a/b/c"),
        ("a/../b", "b"),
        ("a/b/../../c", "c"),
        ("a\\b", "a\\b"),
        ("..a/b..", "..a/b.."),
        ("~/x", "~/x"),
        ("grün/文.md", "grün/文.md"),
        ("x" * 255, "x" * 255),
    ],
)
def test_a_path_is_normalised(text: str, path: str) -> None:
    assert parse_path(text) == path


@pytest.mark.parametrize(
    "text",
    [
        "..",
        "../a",
        "a/../../b",
        "/",
        "/etc/passwd",
        "a\0b",
        "a\ud800b",
        "x" * 256,
        "é" * 128,
        "a/" * 3000,
    ],
)
def test_what_cannot_name_a_workspace_file_is_refused(text: str) -> None:
    with pytest.raises(SecurityError) as caught:
        parse_path(text)
    assert caught.value.code is Code.INVALID_PATH
    caught.value.message.encode()
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


@given(st.text())
def test_a_parsed_path_never_points_upwards_and_parses_to_itself(text: str) -> None:
    try:
        path = parse_path(text)
    except SecurityError:
        return
    assert not path.startswith("/")
    assert ".." not in path.split("/")
    assert parse_path(path) == path


@given(
    st.lists(st.sampled_from(["a", "b", "..", ".", "l", "m"]), max_size=6),
    st.dictionaries(
        st.sampled_from(["l", "m", "a/l", "b/m", "a/b/l"]),
        st.lists(st.sampled_from(["a", "b", "..", "l", "m"]), min_size=1, max_size=5),
        max_size=4,
    ),
    st.booleans(),
)
def test_following_links_never_leaves_the_workspace_and_leaves_no_link_behind(
    parts: list[str], links: dict[str, list[str]], follow: bool
) -> None:
    targets = {place: "/".join(target) for place, target in links.items()}
    visited: list[str] = []
    try:
        path = splice(parse_path("/".join(parts)), targets.get, visited.append, follow)
    except SecurityError:
        return
    assert ".." not in path.split("/")
    assert not any(place in targets for place in ancestors(path))
    assert path not in targets or not follow
    assert all(place in visited for place in [*ancestors(path), path] if path != ".")


def test_links_in_a_circle_are_refused() -> None:
    with pytest.raises(SecurityError, match="circle"):
        splice("a", {"a": "b", "b": "a"}.get, lambda _: None, follow_last=True)


def test_absolute_links_and_links_out_are_refused() -> None:
    for target in ("/etc", "../x", "a/../../x", "caf\udce9"):
        with pytest.raises(SecurityError):
            splice("l/x", {"l": target}.get, lambda _: None, follow_last=True)
