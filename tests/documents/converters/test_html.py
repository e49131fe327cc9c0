"""What a page hides from its readers is no part of its blocks, and how much that was is told."""

import pytest

from tests.documents.converters.test_converters import bare, read


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>secret</p>",
        "<p hidden>secret",
        "<p hidden=until-found>secret</p>",
        "<div style='color: red; DISPLAY : none !important'><p>secret</p><div>secret</div></div>",
        "<div style='visibility:hidden'>secret</div>",
        "<div style='opacity: 0.0'>secret</div>",
        "<div style='font-size:0px'>secret</div>",
        "<div style='display:/**/none'>secret</div>",
        "<template><template>secret</template>secret</template>",
        "<noscript><p>secret</p></noscript>",
        "<dialog>secret</dialog>",
        "<ul hidden><li>secret<ul><li>secret</ul></ul>",
        "<table hidden><tr><td>secret</td></tr></table>",
        # Tags that close nothing of it do not bring it to light.
        "<div hidden>secret</span></section>secret</div>",
        "<b><div hidden>secret</b>secret</div>",
        "<section><table hidden><tr><td></section>secret</table></section>",
        "<div hidden/>secret</div>",
        "<div hidden><br><img src=a.png alt=secret><input>secret</div>",
    ],
)
def test_hidden_text_is_left_out_and_told(hidden: str) -> None:
    found = read(f"<p>before</p>{hidden}<p>behind</p>", "text/html")
    assert [block.text for block in found.blocks] == ["before", "behind"]
    assert found.notes == ("a hidden element with text that no reader of the page sees is left out",)


@pytest.mark.parametrize(
    ("page", "seen"),
    [
        # What only some programs are not told of, readers see.
        ("<p>a <span aria-hidden=true>sign</span></p>", ["a sign"]),
        ("<p style='opacity:0.5; margin: 0'>half</p>", ["half"]),
        ("<p style='font-size:0.9em'>small</p>", ["small"]),
        ("<p style='font-size:small; opacity:inherit'>words</p>", ["words"]),
        ("<dialog open>asked</dialog>", ["asked"]),
        ("<details><summary>more</summary>folded</details>", ["more", "folded"]),
        # Scripts show these as soon as the page is loaded.
        ("<html style='visibility:hidden'><body style='opacity:0'>loaded</body></html>", ["loaded"]),
        ("<svg><path/><path/></svg>behind<script>if (a < b) {}</script>", ["behind"]),
        ("<script src=a.js />behind", ["behind"]),
        ("<select>" + "<option>one" * 2000 + "</select>behind", ["behind"]),
        ("<b>" * 2000 + "<div>in</div>" + "</b>" * 9 + "behind", ["in", "behind"]),
    ],
)
def test_what_readers_see_stays(page: str, seen: list[str]) -> None:
    found = read(page, "text/html")
    assert [block.text for block in found.blocks] == seen
    assert found.notes == ()


def test_an_element_ends_where_its_page_leaves_out_to_say_so() -> None:
    found = read(
        "<ol><li>one<li hidden>no<li>two</ol><div><p hidden>no</div>seen<p hidden>no<ul><li>item</ul>"
        "<table><tr><th>a<th hidden>no<tr><td>1<td hidden>no</table>",
        "text/html",
    )
    assert bare(found) == [
        {"kind": "list", "items": [{"text": "one", "number": 1}, {"text": "two", "number": 2}]},
        {"kind": "paragraph", "text": "seen"},
        {"kind": "list", "items": [{"text": "item"}]},
        {"kind": "table", "header": ["a"], "rows": [["1"]]},
    ]
    assert found.notes == ("5 hidden elements with text that no reader of the page sees are left out",)


def test_a_closed_tag_of_xhtml_hides_nothing_behind_it() -> None:
    found = read("<html><p hidden='hidden'/><p>seen</p></html>", "application/xhtml+xml")
    assert [block.text for block in found.blocks] == ["seen"]
