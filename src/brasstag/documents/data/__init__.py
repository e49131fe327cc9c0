"""Programs that errands run to answer questions over data: nothing here is imported where calls are judged.

query      the program behind ask_data: rows of one SELECT
plot       the program behind plot_data: a picture
replying   how a program is asked, and answers
tables     a database that holds nothing but views of documents
shelf      files, and what views of them stand for
readers    how a file becomes tables; workbooks how its sheets do
recoding   texts in other encodings, as UTF-8
evening    tables in which not every line fits, made to
days       dates that could be read in another order
values     what a database holds, as JSON
drawings   what a picture shows
charts     drawing it; figures how its numbers are written
"""
