"""Documents made by hand: what office programs would write, reduced to what counts."""

import io
import zipfile
from collections.abc import Mapping, Sequence

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{}</Types>'
_PART = '<Override PartName="/{}" ContentType="application/vnd.openxmlformats-officedocument.{}.main+xml"/>'


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as box:
        for name, content in parts.items():
            box.writestr(name, content)
    return out.getvalue()


def docx(body: str, **parts: str) -> bytes:
    """Return a Word document; ``styles``, ``numbering``, ``rels``, ``footnotes`` and ``endnotes`` may be given."""
    styles = parts.get("styles", "")
    notes = {
        f"word/{name}.xml": f'<w:{name} xmlns:w="{W}">{parts[name]}</w:{name}>'
        for name in ("footnotes", "endnotes")
        if name in parts
    }
    return zipped(
        {
            "[Content_Types].xml": _TYPES.format(
                _PART.format("word/document.xml", "wordprocessingml.document")
            ),
            "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:r="{R}"><w:body>{body}</w:body></w:document>',
            "word/styles.xml": f'<w:styles xmlns:w="{W}">{styles}</w:styles>',
            "word/numbering.xml": f'<w:numbering xmlns:w="{W}">{parts.get("numbering", "")}</w:numbering>',
            "word/_rels/document.xml.rels": f"<Relationships>{parts.get('rels', '')}</Relationships>",
            **notes,
        }
    )


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def xlsx(rows: Sequence[Sequence[str | float]], cells: str = "") -> bytes:
    """Return a workbook of one sheet; ``cells`` are rows as XML behind the others."""
    written = "".join(
        f'<row r="{number}">{"".join(map(_cell, row))}</row>' for number, row in enumerate(rows, start=1)
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    return zipped(
        {
            "[Content_Types].xml": _TYPES.format(_PART.format("xl/workbook.xml", "spreadsheetml.sheet")),
            "_rels/.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" Type="{R}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{R}"><sheets><sheet name="Sales" sheetId="1" '
            'r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" '
            f'Type="{R}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{written}{cells}</sheetData></worksheet>',
        }
    )


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def pdf(*pages: str, end: bytes = b"%%EOF") -> bytes:
    """Return a PDF whose pages are drawn by the operators given; /F1 is Helvetica, /F2 its bold face."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>"
        % (b" ".join(b"%d 0 R" % (5 + 2 * number) for number in range(len(pages))), len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
    ]
    for number, drawn in enumerate(pages):
        data = drawn.encode("latin-1")
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /Font "
            b"<< /F1 3 0 R /F2 4 0 R >> >> >>" % (6 + 2 * number)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(data), data))
    out = b"%PDF-1.4\n"
    places = []
    for number, one in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    return out + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%s" % (len(objects) + 1, start, end)


def words(text: str, x: float, y: float, size: float = 11, font: str = "F1") -> str:
    return f"BT /{font} {size} Tf {x} {y} Td ({text}) Tj ET\n"
