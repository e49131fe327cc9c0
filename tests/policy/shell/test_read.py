"""Reading bash: words, places, wrappers, doubts and limits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.policy.shell.commands import Command, Doubt, Word
from brasstag.policy.shell.parse import LONGEST_TEXT
from brasstag.policy.shell.read import DEEPEST, MOST_COMMANDS, read_code, read_commands


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in read_commands(text).commands]


def doubts(text: str) -> set[Doubt]:
    return {one.doubt for one in read_commands(text).doubts}


def last(text: str) -> Command:
    return read_commands(text).commands[-1]


class TestWords:
    @pytest.mark.parametrize(
        ("written", "seen"),
        [
            ("plain", "plain"),
            ("'a b'", "a b"),
            ('"a b"', "a b"),
            ('"a\\"b\\$c\\d"', 'a"b$c\\d'),
            ("a\\ b\\*", "a b*"),
            ("a'b'\"c\"d", "abcd"),
            ("$'a\\tb\\x41\\101\\u00e9\\'\\e'", "a\tbAAé'\x1b"),
            ("$'a\\0b'", "a"),
            ('$"hello"', "hello"),
            ("''", ""),
            ("a\\\nb", "ab"),
            ("12", "12"),
            ("--x='y z'", "--x=y z"),
        ],
    )
    def test_quotes_and_escapes_are_resolved(self, written: str, seen: str) -> None:
        assert last(f"echo {written}").words == (Word("echo"), Word(seen))

    @pytest.mark.parametrize(
        "written", ["$x", '"a $x"', "a${x}b", "$(ls)", "`ls`", "$((1))", "<(ls)", '"$(ls)"', "$@"]
    )
    def test_what_is_computed_is_marked(self, written: str) -> None:
        assert read_commands(f"echo {written}").commands[0].words[-1].computed

    @pytest.mark.parametrize("written", ["*.c", "a?", "[ab]", "x{1..3000}", "a'b'*", "{a*,a*}"])
    def test_wildcards_are_marked(self, written: str) -> None:
        word = last(f"echo {written}").words[1]
        assert word.pattern
        assert not word.computed

    @pytest.mark.parametrize("written", ["$x", "a$x", "$(ls)", '"$@"', '"${a[@]}"'])
    def test_what_may_become_several_words_is_marked(self, written: str) -> None:
        assert read_commands(f"echo {written}").commands[0].words[-1].splits
        assert not read_commands('echo "$x"').commands[0].words[-1].splits

    @pytest.mark.parametrize("written", ["'*'", '"?"', "\\*", "{}", "'{a,b}'", "a=b"])
    def test_quoted_wildcards_are_letters(self, written: str) -> None:
        assert last(f"echo {written}").words[1].literal

    @pytest.mark.parametrize("written", ["$HOME/x", "${HOME}/x", '"$HOME/x"', "~/x"])
    def test_the_home_directory_has_one_name(self, written: str) -> None:
        assert last(f"ls {written}").words[1].text == "~/x"

    def test_a_variable_that_only_begins_like_home_is_another(self) -> None:
        assert last("ls $HOMEPAGE").words[1].text == "$HOMEPAGE"

    def test_the_name_has_no_directory_and_none_where_it_is_computed(self) -> None:
        assert last("/usr/bin/git log").name == "git"
        assert last("$X log").name == ""


class TestPlaces:
    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ("x", ()),
            ("a; x", ()),
            ("a | x", ("pipe",)),
            ("(x)", ("subshell",)),
            ("$(x)", ("substitution",)),
            ("cat <(x)", ("process substitution",)),
            ("f() { x; }", ("function f",)),
            ("bash -c 'a | x'", ("bash -c", "pipe")),
            ("sudo env nice x", ("sudo", "env", "nice")),
            ("find . -exec x {} +", ("find -exec",)),
            ('echo "$(a | x)"', ("substitution", "pipe")),
            ("cat <<E | x\nE", ("pipe",)),
        ],
    )
    def test_a_command_knows_what_it_stands_in(self, text: str, place: tuple[str, ...]) -> None:
        assert place in [one.place for one in read_commands(text).commands if one.name == "x"]

    def test_redirections_are_kept_with_their_command(self) -> None:
        command = last("A=1 x < in > out 2>> err &> all")
        assert command.reads == (Word("in"),)
        assert command.writes == (Word("out"), Word("err"), Word("all"))
        assert command.assigns == ("A=1",)

    def test_numbers_of_streams_are_no_files(self) -> None:
        assert last("x 2>&1").writes == ()

    def test_redirections_of_a_group_belong_to_all_in_it(self) -> None:
        assert [one.writes for one in read_commands("{ a; b; } > out").commands] == [(Word("out"),)] * 2

    def test_a_redirection_alone_is_kept(self) -> None:
        assert last("> out").writes == (Word("out"),)

    def test_what_stands_behind_a_here_document_belongs_to_the_command(self) -> None:
        command = last("cat <<E > out a\nE")
        assert (command.writes, command.arguments) == ((Word("out"),), ("a",))

    @pytest.mark.parametrize(
        "text", ["x > f y z", "> f x y z", "x y 2>&1 z", "x <<< f y z", "x y &> f z", "x <<E y z\nE"]
    )
    def test_words_on_either_side_of_a_redirection_belong_to_the_command(self, text: str) -> None:
        assert words(text) == [["x", "y", "z"]]

    def test_declarations_are_commands(self) -> None:
        assert words("export A=1 B; unset C") == [["export", "A=1", "B"], ["unset", "C"]]


class TestWrappers:
    @pytest.mark.parametrize(
        "text",
        [
            *(
                "env -u A B=1 x y",
                "sudo -u root -- x y",
                "timeout -k 3 5 x y",
                "nice -n 3 x y",
                "time -p x y",
            ),
            *("command x y", "builtin x y", "exec -a z x y", "nohup x y &", "stdbuf -oL x y", "flock f x y"),
            *(
                "bash -c 'x y'",
                "bash -eo pipefail -c 'x y'",
                "sh -c -- 'x y'",
                "eval x y",
                "eval 'x y'",
                "watch -n 1 x y",
            ),
            *(
                "su -c 'x y' root",
                "env -S 'x y'",
                "ssh -p 22 host x y",
                "script -qc 'x y' log",
                "trap 'x y' EXIT",
            ),
            *(
                "find . -name z -exec x y \\;",
                "fd -e c -x x y",
                "bash <<'E'\nx y\nE",
                "bash <<< 'x y'",
                "uv run x y",
            ),
            *("coproc x y", "busybox x y", "git bisect run x y", "python -c 'import os; os.system(\"x y\")'"),
        ],
    )
    def test_the_command_behind_it_is_read(self, text: str) -> None:
        assert ["x", "y"] in words(text)

    @pytest.mark.parametrize(
        "text", ["command -v x", "bash x y", "ssh host", "env", "xargs", "sudo -v", "trap - EXIT"]
    )
    def test_where_there_is_none_nothing_is_made_up(self, text: str) -> None:
        assert len(words(text)) == 1

    def test_xargs_adds_words_that_nobody_sees(self) -> None:
        assert last("ls | xargs -n 1 rm").words[-1].computed

    def test_wrappers_inside_each_other_end_in_a_doubt(self) -> None:
        assert Doubt.TOO_DEEP in doubts("env " * (DEEPEST + 2) + "ls")
        assert doubts("env " * DEEPEST + "ls") == set()


class TestDoubts:
    @pytest.mark.parametrize(
        ("text", "doubt"),
        [
            ("echo 'open", Doubt.UNREADABLE),
            ("time { ls; }", Doubt.UNREADABLE),
            ("$X", Doubt.COMPUTED_NAME),
            ("/bin/l?", Doubt.COMPUTED_NAME),
            ("bash -c $X", Doubt.COMPUTED_CODE),
            ("rm $X", Doubt.COMPUTED_DELETION),
            ("find . -exec rm {} +", Doubt.COMPUTED_DELETION),
            ("cat x | sh", Doubt.FED_SHELL),
            ("bash <(x)", Doubt.FED_SHELL),
            ("node <<'E'\nx\nE", Doubt.FED_SHELL),
            ("bash <<E\n$x\nE", Doubt.FED_SHELL),
            ("alias a=b", Doubt.REDEFINED),
            ("ls() { :; }", Doubt.REDEFINED),
            (". x", Doubt.SOURCED),
            ("cat > x; sh x", Doubt.WRITTEN_FIRST),
            ("cat > ./a/../x && ./x", Doubt.WRITTEN_FIRST),
        ],
    )
    def test_each_doubt_is_raised(self, text: str, doubt: Doubt) -> None:
        assert doubt in doubts(text)

    @pytest.mark.parametrize(
        "text", ["cat x | sh y", "cat x | python -m y", "sh x; cat > x", "mine() { :; }", "cat <(x)", "rm x*"]
    )
    def test_what_is_known_raises_none(self, text: str) -> None:
        assert doubts(text) == set()

    def test_a_doubt_shows_what_raised_it_on_one_short_line(self) -> None:
        doubt = read_commands(f"$X {'a' * 500}\n").doubts[0]
        assert doubt.on.startswith("$X a")
        assert len(doubt.on) < 100


class TestLimits:
    @pytest.mark.parametrize(
        ("text", "doubt"),
        [
            ("x" * (LONGEST_TEXT + 1), Doubt.TOO_LARGE),
            ("ls\n" * 350_000, Doubt.TOO_LARGE),
            ("a|" * 5_000, Doubt.TOO_LARGE),
            ("ls\n" * (MOST_COMMANDS + 2), Doubt.TOO_LARGE),
            ("echo " + "$(" * 1_000 + "ls" + ")" * 1_000, Doubt.TOO_DEEP),
            ("(" * 2_000, Doubt.UNREADABLE),
            ("a\0b", Doubt.UNREADABLE),
            ("a \udfff", Doubt.UNREADABLE),
        ],
    )
    def test_what_is_over_a_limit_is_doubtful(self, text: str, doubt: Doubt) -> None:
        assert doubt in doubts(text)

    def test_a_long_list_is_read_to_its_end(self) -> None:
        assert words("ls && " * 1_000 + "rm x")[-1] == ["rm", "x"]

    @given(st.text(alphabet=" ax|&;<>(){}[]$`\"'=\n#\\!~*?-\0é\ud800", max_size=60))
    @settings(max_examples=400, deadline=None)
    def test_no_text_makes_it_fail(self, text: str) -> None:
        assert read_code.__wrapped__(text, "bash") == read_commands(text)

    @given(st.text(max_size=80))
    @settings(deadline=None)
    def test_no_code_makes_it_fail(self, text: str) -> None:
        assert read_code(text, "python").language == "python"

    @given(st.lists(st.text(alphabet="ab '\"\\$*\n", min_size=1, max_size=6), min_size=1, max_size=4))
    @settings(max_examples=200, deadline=None)
    def test_what_shlex_quotes_is_read_back(self, given_words: list[str]) -> None:
        import shlex

        read = read_commands(shlex.join(["x", *given_words])).commands[-1]
        assert read.words == (Word("x"), *map(Word, given_words))
