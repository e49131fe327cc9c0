"""Which cgroup is ours to use; a tree of plain files stands for the kernel's, which few test machines hand out."""

from pathlib import Path

import pytest

from brasstag.sandbox.process.confine.cgroups import delegated, group_for
from brasstag.sandbox.process.job import JobLimits


def tree(root: Path, controllers: str, own: str = "/user/leaf") -> tuple[Path, Path]:
    parent = (root / own.lstrip("/")).parent
    (root / own.lstrip("/")).mkdir(parents=True, exist_ok=True)
    (parent / "cgroup.subtree_control").write_text(controllers)
    (parent / "cgroup.procs").write_text("")
    membership = root / "membership"
    membership.write_text(f"4:memory:/elsewhere\n0::{own}\n")
    return membership, parent


def test_a_parent_with_both_controllers_is_ours(tmp_path: Path) -> None:
    membership, parent = tree(tmp_path, "cpu memory pids")
    assert delegated(tmp_path, membership) == parent


@pytest.mark.parametrize("controllers", ["", "memory", "pids cpu"])
def test_one_controller_is_not_enough(tmp_path: Path, controllers: str) -> None:
    membership, _ = tree(tmp_path, controllers)
    assert delegated(tmp_path, membership) is None


def test_the_root_s_parent_is_nobody_s(tmp_path: Path) -> None:
    membership, _ = tree(tmp_path, "memory pids", own="/")
    assert delegated(tmp_path, membership) is None
    assert delegated(tmp_path, tmp_path / "missing") is None


def test_a_group_has_the_limits_of_its_run_and_tells_which_one_was_met(tmp_path: Path) -> None:
    with group_for(JobLimits(memory_bytes=4096, processes=7), tmp_path) as group:
        assert group is not None
        assert (group.path / "memory.max").read_text() == "4096"
        assert int((group.path / "pids.max").read_text()) == 10
        assert group.broken() is None
        (group.path / "pids.events").write_text("max 3\n")
        assert group.broken() == "processes"
        (group.path / "memory.events").write_text("low 0\noom_kill 1\n")
        assert group.broken() == "memory"
    with group_for(JobLimits(), None) as group:
        assert group is None
