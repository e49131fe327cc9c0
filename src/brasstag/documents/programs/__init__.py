"""Programs that errands run on bytes nobody trusts: each imports as little as it can, and only what it needs.

convert    the program: documents in, one line of JSON a document out
table      which module converts which media type
paper      what converters write on, up to its limits
decoding   bytes as text, with a word on how that was found out
texts      plain text and source code
markdown   Markdown
html       HTML
boxes      containers that would unpack to too much
records    CSV, TSV, JSON and JSON lines
sheets     workbooks
word       DOCX; wordstyles what its styles and numbers mean
pdf        PDF; grids the tables drawn on its pages, layout what its lines are
others     pictures, and a word on anything else
"""
