"""What the style sheets of a page plainly hide is left out of it; what they might show stays."""

import pytest

from brasstag.documents.converters.html import css as htmlsheets
from tests.documents.converters.test_converters import bare, read

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
        "<style>.x{display:none} @-webkit-keyframes a{.x{display:block}}</style><p class=x>secret</p>",
        "<style>@media\nscreen{.x{display:none}}</style><p class=x>secret</p>",
        "<style>.x{display:block}</style><p class=x style='display:none'>secret</p>",
        "<style>.x{display:block!important}</style><p class=x style='display:none!important'>secret</p>",
        "<p style='display:none!important; display:block'>secret</p>",
        # In what is gone nothing is shown again; in what is veiled only what says so.
        "<style>.x{display:none}</style><div class=x><p style='visibility:visible'>secret</p></div>",
        "<style>.x{visibility:hidden} .y{visibility:visible}</style><div class=x><p>secret</p></div>",
        "<style>p{visibility:hidden} *{visibility:visible}</style><div><p>secret</p></div>",
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
        ".x{display:none} @media(min-width:600px){.x{display:block}}",
        ".x{display:none} @media\nscreen{.x{display:block}}",
        ".x{display:none} @MEDIA\tscreen{.x{display:block}}",
        ".x{display:none} @supports(display:grid){.x{display:block}}",
        ".x{display:none} @-moz-document url(a){.x{display:block}}",
        ".x{display:none} @some-day{.x{display:block}}",
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
        "@some-day{.x{display:none}}",
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


def test_a_rule_for_an_id_is_not_heard_for_what_has_none() -> None:
    assert texts("<style>#None{display:none}</style><p>seen</p><p id>seen</p><p id=None>secret</p>") == [
        "seen",
        "seen",
    ]


@pytest.mark.parametrize(
    ("sheet", "own"),
    [
        (".x{display:none!important}", "display:block!important"),
        ("#i.x{visibility:hidden!important}", "visibility:visible ! important"),
        (".x{display:none}", "display:block"),
        (".x{display:block!important}", "display:none"),
        ("@media (min-width:9px){.x{visibility:visible!important}}", "visibility:hidden"),
        ("", "display:none; display:block"),
        ("", "display:block!important; display:none"),
        (".x{display:none}", "/* ; display:none */ display:/**/block"),
    ],
)
def test_the_style_of_a_tag_and_its_sheets_are_weighed(sheet: str, own: str) -> None:
    assert texts(f"<style>{sheet}</style><p id=i class=x style='{own}'>seen</p>") == ["seen"]


@pytest.mark.parametrize(
    ("sheet", "veil"),
    [
        (".x{visibility:hidden} .y{visibility:visible}", ""),
        (".x{visibility:hidden} .x:hover .y{visibility:visible}", ""),
        (".y{visibility:visible}", " style='visibility:hidden'"),
        (".x{visibility:hidden!important} @media (min-width:9px){.y{visibility:visible}}", ""),
    ],
)
def test_what_is_shown_again_in_what_is_veiled_stays(sheet: str, veil: str) -> None:
    found = read(
        f"<style>{sheet}</style><div class=x{veil}>secret<p class=y>seen <b>too</b><i hidden></i></p>secret"
        "<img src=a.png alt=secret><hr><img class=y src=b.png alt=picture></div>behind",
        "text/html",
    )
    assert [block.text for block in found.blocks] == ["seen too", "picture", "behind"]
    assert found.notes == (HIDDEN,)


def test_what_is_veiled_by_its_own_tag_is_shown_again_by_one() -> None:
    page = "<div style='visibility:hidden'>secret <a href=a><b style='visibility:visible'>seen</b></a></div>behind"
    assert texts(page) == ["seen (a)", "behind"]


def test_lists_and_tables_keep_their_places_where_something_is_veiled() -> None:
    found = read(
        "<style>.x{visibility:hidden} .y{visibility:visible}</style>"
        "<ol><li>one<li class=x>secret<li>three<li class=x><b class=y>four</b></ol>"
        "<table><tr><th>a<th>b<tr><td class=x>secret<td>1<tr class=x><td>secret<td class=y>2</table>",
        "text/html",
    )
    items, table = bare(found)
    assert [(item["text"], item["number"]) for item in items["items"]] == [
        ("one", 1),
        ("three", 3),
        ("four", 4),
    ]
    assert table["rows"] == [["", "1"], ["", "2"]]


def test_what_is_no_longer_held_against_rules_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(htmlsheets, "MOST_COMPARED", 3)
    sheet = "div{visibility:hidden} .x{display:none} .y.x{display:block}"
    page = "<p class=x>secret</p><div><p class='x y'>seen</p><p>seen</p></div>"
    assert texts(f"<style>{sheet}</style>{page}") == ["seen", "seen"]


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
    assert not any(
        sheets.visibility("p", {"class": "x"}) is htmlsheets.StyleVisibility.GONE for _ in range(20_000)
    )


@pytest.mark.parametrize("style", ["/*" * 500_000, "opacity:" + "0" * 500_000 + "-", "display:" * 100_000])
@pytest.mark.timeout(60)
def test_hostile_styles_of_tags_come_to_an_end(style: str) -> None:
    assert texts(f"<p style='{style}'>seen</p>") == ["seen"]
