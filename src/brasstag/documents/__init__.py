"""Documents: workspace files as agents read and pass them on.

library    the door: documents listed, found, and followed through their versions
refreshing when the disk is looked at, and who waits for it
study      what is found out about contents once: blocks, tokens, summary
indexing   what could not be indexed while it was scanned
loading    as much of a document as fits, from pieces, which cutting parts; comparing, overlaps how two of them differ
data/      the programs behind questions over data, and charts
kinds      what a file is, by its bytes, or its name; containers what is packed in one
decoding   bytes as the text they are; guessing which old encoding that is in
converting bytes into blocks, confined; programs/ is what runs there
rendering  blocks as Markdown, text or JSON
counting   how many tokens a text is; tokens/ is what they are
summarising  the sentences that say most
examining  a file read through in bounded memory: type, digest, size, beginning
scanning   the workspace compared with what is known of it: rounds, which walk (walking, ignoring), read (intake, decoding),
           find out what was moved (tracing) and write all down (recording, sheets); reports say what was found
watching   changes noticed as they happen
searching  documents found by words, best first
queries    what is typed to search
snippets   the piece of a text that shows why it was found
extracts   what is shown of a text too long to be shown whole, and how to read on
carrying   files as they travel with a task, a question or a result
"""
