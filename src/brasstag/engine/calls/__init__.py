"""One call, from its request to its outcome; the files follow the order in which a call passes them.

Reading order: counter, pipeline, admit, types, preview, function, judge, ask, approvals, edit, resume, perform, delegate,
extra_rows, landing, patches, record, explain.
"""
