"""Programs that errands run on bytes nobody trusts: each imports as little as it can, and only what it needs.

convert    the program: documents in, one line of JSON a document out
table      which module converts which media type
paper      what converters write on, up to its limits
decoding   bytes as text, with a word on how that was found out
texts      plain text and source code
markdown   Markdown
html       HTML; htmlhidden what of it no reader sees, htmlsheets what its style sheets hide
rtf        RTF
boxes      containers that would unpack to too much
rows       how rows of separated values are laid out
records    CSV, TSV, JSON and JSON lines
sheets     workbooks; formulas those without results
word       DOCX; wordruns its words, wordhidden those that no reader sees, wordstyles what its styles and numbers mean,
           wordnotes its footnotes and endnotes, wordpages its pages, wordpictures its pictures
pdf        PDF; grids the tables drawn on its pages, layout what its lines are
others     pictures, and a word on anything else
"""
