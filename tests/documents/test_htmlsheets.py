"""What the style sheets of a page plainly hide is left out of it; what they might show stays."""

import pytest

from brasstag.documents.programs import htmlsheets
from tests.documents.test_programs import read

HIDDEN = "a hidden element with text that no reader of the page sees is left out"
TOO_LONG = "its style sheets are too long, so that some of what they hide may be here"
MANY = "".join(f".x.a{number}{{display:none}}" for number in range(20_000))


def texts(page: str) -> list[str]:
    return [block.text for block in read(page, "text/html").blocks]


@pytest.mark.parametrize(
    "page",
    [
        "<style>.x{display:none}</style><p class='a x b'>secret</p>",
        "<style>#menu { color: red; Display : NONE }</style><p id=menu>secret</p>",
        "<style>aside{visibility:hidden}</style><aside>secret<p>secret</p></aside>",
        "<style>p.x.y{visibility:collapse}</style><p class='y x'>secret</p>",
        "<style>h2,.x,#y{display:none}</style><p class=x>secret</p>",
        # Wherever in the page it stands.
        "<p class=x>secret</p><style>.x{display:none}</style>",
        "<svg><style>.x{display:none}</style></svg><p class=x>secret</p>",
        "<STYLE TYPE='text/css' MEDIA='screen, print'>.x{display:none}</STYLE><p class=x>secret</p>",
        "<style><!-- .x{display:none} --></style><p class=x>secret</p>",
        "<style>@import 'a.css'; @charset \"utf-8\"; .x{display:none}</style><p class=x>secret</p>",
        "<style>/* } */ .a::before{content:'}{'} .x{/**/display:/* now */none}</style><p class=x>secret</p>",
        "<style>@media screen{.x{display:none}}</style><p class=x>secret</p>",
        "<style>@media only screen { @media all { .x{display:none} } }</style><p class=x>secret</p>",
        "<style>@font-face{src:url(a)} @media print{.x{display:block}} .x{display:none}</style><p class=x>secret",
        # What is never closed ends with its sheet.
        "<style>.x{display:none</style><p class=x>secret</p>",
        "<style>.md\\:x{display:none}</style><p class='md:x'>secret</p>",
        # Rules that are weaker show nothing again.
        "<style>.x{display:none} p{display:block}</style><p class=x>secret</p>",
        "<style>.x{display:block} .x{display:none}</style><p class=x>secret</p>",
        "<style>.x{display:none!important} p.x{display:block}</style><p class=x style='display:flex'>secret</p>",
        "<style>.x{display:none} .x.open{display:block} .y:hover .z{display:block}</style><p class=x>secret</p>",
        "<style>.x{display:none} @media (min-width:9px){p{display:block}}</style><p class=x>secret</p>",
        "<style>.x{display:none} .x::before{display:block}</style><p class=x>secret</p>",
        "<style>.x{display:none}</style><p class=x style='color:red; --display: block'>secret</p>",
    ],
)
def test_what_a_sheet_plainly_hides_is_left_out_and_told(page: str) -> None:
    found = read(f"<h1>before</h1>{page}", "text/html")
    assert [block.text for block in found.blocks] == ["before"]
    assert found.notes == (HIDDEN,)


@pytest.mark.parametrize(
    "sheet",
    [
        # Later, more exact or important ones are heard.
        ".x{display:none} .x{display:block}",
        ".x{display:block!important} .x{display:none}",
        ".x{display:none} p.x{display:block}",
        ".x{visibility:hidden} #i{visibility:visible}",
        # Those that may be heard are.
        ".x{display:none} .open .x{display:block}",
        ".x{display:none} nav:hover>.x{display:block}",
        ".x{display:none} .x[open]{display:block}",
        ".x{display:none} .x:not(.a, .b){display:block}",
        ".x{display:none} @media (min-width: 600px) {.x{display:block}}",
        ".x{display:none} @media screen and (min-width: 600px) {.md\\:y{display:block}}",
        ".x{display:none; &.open{display:block}}",
        # What would take a browser to tell.
        ".a .x{display:none}",
        ".a>.x{display:none}",
        ".x:hover{display:none}",
        ".x::before{display:none}",
        ".x[open]{display:none}",
        ".x:not(.a){display:none}",
        "@media (max-width: 600px) {.x{display:none}}",
        "@media print {.x{display:none}}",
        "@supports (display:grid) {.x{display:none}}",
        "@keyframes .x{display:none}",
        "@font-face{.x{display:none}}",
        "div{ .x{display:none} }",
        # What says something else.
        ".X{display:none}",
        ".x{-x-display:none; display-x:none}",
        ".x{content:'display:none'}",
        ".x{opacity:0}",
        ".y{display:none}",
        "/* .x{display:none} */",
        "html, body{display:none}",
        ".x{display:none",
        "}{;@,.x()[]{:}::",
    ],
)
def test_what_a_sheet_may_show_stays(sheet: str) -> None:
    shown = " md:y" if "md" in sheet else ""
    style = "" if sheet != ".x{display:none" else " style='display:block'"
    found = read(
        f"<html><style>{sheet}</style><body><p id=i class='x{shown}'{style}>seen</p></body></html>",
        "text/html",
    )
    assert [block.text for block in found.blocks] == ["seen"]
    assert found.notes == ()


@pytest.mark.parametrize(
    "around",
    [
        "<style media=print>{}</style>",
        "<style media='screen and (max-width: 9px)'>{}</style>",
        "<style type=text/less>{}</style>",
        "<!-- <style>{}</style> -->",
        "<script>a = '<style>{}</style>'</script>",
        "<noscript><style>{}</style></noscript>",
        "<template><style>{}</style></template>",
    ],
)
def test_what_is_no_sheet_for_readers_at_a_screen_hides_nothing(around: str) -> None:
    assert "seen" in texts(around.replace("{}", ".x{display:none}") + "<p class=x>seen</p>")


def test_a_picture_that_a_sheet_hides_is_left_out() -> None:
    page = "<style>.x{display:none}</style><img class=x src=a.png alt=secret><img src=b.png alt=seen>"
    assert texts(page) == ["seen"]


@pytest.mark.parametrize("limit", ["MOST_CHARACTERS", "MOST_RULES", "MOST_COMPARED"])
def test_sheets_are_applied_within_limits_and_that_is_told(
    monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(htmlsheets, limit, 30)
    sheet = ".x{display:none}" + "".join(f".x.a{number}{{display:none}}" for number in range(40))
    page = f"<style>{sheet}</style>" + "<p class=x>secret</p>" * 40 + "<p>seen</p>"
    found = read(page, "text/html")
    assert found.blocks[-1].text == "seen"
    assert TOO_LONG in found.notes


@pytest.mark.parametrize(
    "page",
    [
        "<style" * 300_000,
        "<style>" + "{" * 500_000,
        "<style>" + ".x{" * 200_000,
        "<style>" + "a" * 500_000 + "((((" * 100_000 + "{display:none}",
        "<style>" + '"a' * 400_000,
        "<style>" + "/*/" * 300_000,
        f"<style>{MANY}</style>",
    ],
)
@pytest.mark.timeout(60)
def test_hostile_sheets_come_to_an_end(page: str) -> None:
    sheets = htmlsheets.Sheets(page)
    assert not any(sheets.hide("p", {"class": "x"}) for _ in range(20_000))
