from brasstag.toolkit.declare.docstrings import read_docstring


def test_the_first_paragraph_is_the_description() -> None:
    said = read_docstring("Count the words\n    of a file.\n\n    More about it.\n    ")
    assert said.description == "Count the words of a file."
    assert said.arguments is None


def test_the_args_section_describes_each_argument() -> None:
    said = read_docstring(
        """Do it.

        Args:
            path: Where: relative to
                the workspace.
            count (int, optional): How many.

            last: The last.

        Returns:
            count: not an argument.
        """
    )
    assert said.arguments == {
        "path": "Where: relative to the workspace.",
        "count": "How many.",
        "last": "The last.",
    }


def test_an_args_section_may_follow_at_once() -> None:
    said = read_docstring("Do it.\nArgs:\n    path: Where.\n")
    assert (said.description, said.arguments) == ("Do it.", {"path": "Where."})


def test_no_docstring_says_nothing() -> None:
    said = read_docstring(None)
    assert (said.description, said.arguments) == ("", None)
