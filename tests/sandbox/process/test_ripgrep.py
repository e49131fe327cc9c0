"""A search by ripgrep for either kind of user: it reads what that user may read, and the answer is that of the walk."""

from tests.sandbox.process.support import SECRET, Project


def test_the_answer_is_that_of_the_walk_whatever_may_not_be_read(confined: Project) -> None:
    for number in range(120):
        confined.write(f"many/{number}.txt", "nothing\n")
    confined.write("open/a.txt", f"a line with {SECRET}\n")
    confined.write("closed.txt", f"{SECRET}\n", mode=0)
    confined.write("shut/a.txt", f"{SECRET}\n")
    confined.write("binary", b"\0" + SECRET.encode())
    (confined.data / "out").symlink_to(confined.path / "outside")
    confined.own()
    (confined.data / "shut").chmod(0)
    found = confined.runner.ask("search", project=str(confined.path), query=SECRET)
    fast, slow = found["fast"], found["slow"]
    assert (fast.pop("engine"), slow.pop("engine")) == ("ripgrep", "walk")
    assert fast == slow
    readable = ["open/a.txt"] if confined.runner.uid else ["closed.txt", "open/a.txt", "shut/a.txt"]
    assert [one["path"] for one in fast["matches"]] == readable
    assert fast["skipped"]["unreadable"] == (2 if confined.runner.uid else 0)
    assert fast["skipped"]["binary"] == 1
