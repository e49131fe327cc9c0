"""Front doors: what packages offer by name, and that nothing behind them is loaded before it is used."""

import subprocess
import sys
from importlib import import_module

import pytest

from tests.architecture import doors


@pytest.mark.parametrize("package", doors())
def test_every_name_at_a_door_is_there(package: str) -> None:
    door = import_module(f"brasstag.{package}")
    assert door.__all__ == sorted(doors()[package])
    assert dir(door) == door.__all__
    for name in door.__all__:
        assert getattr(door, name) is not None
    with pytest.raises(AttributeError, match=f"brasstag.{package} has no no_such_name"):
        _ = door.no_such_name


@pytest.mark.parametrize("package", doors())
def test_a_package_is_imported_without_what_stands_behind_its_door(package: str) -> None:
    script = f"import sys, brasstag.{package}\nprint(*(name for name in sys.modules if 'brasstag' in name))"
    assert loaded_by(script) == {"brasstag", "brasstag.doors", f"brasstag.{package}"}


def test_the_help_loads_neither_the_engine_nor_the_store() -> None:
    script = (
        "import sys\nfrom brasstag.surfaces.cli.main import main\nsys.argv = ['brasstag', '--help']\n"
        "sys.stdout = open('/dev/null', 'w')\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(*sys.modules, file=sys.__stdout__)"
    )
    loaded = loaded_by(script)
    assert "brasstag.surfaces.cli.commands.run" in loaded
    heavy = ("sqlalchemy", "pydantic", "brasstag.engine", "brasstag.store", "brasstag.app.")
    assert [name for name in loaded if name.startswith(heavy)] == []


def loaded_by(script: str) -> set[str]:
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    return set(told.split())
