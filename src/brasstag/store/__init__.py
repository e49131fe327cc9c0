"""The store: everything a room keeps. SQL is spoken here and nowhere else.

Database
    database, locks     transactions, views, and the order in which locks are taken
    sqlite, postgres    the two there are; address, postgres_errors: where a server is, and what it says
    prepared            statements that the driver runs by itself; parts, naming: long lists, and the ends of ids
    schema, migrate     the tables, and how they are brought up to date; queue_schema: those of the job queue
    opening, facts      which database a room is in, and what is said of the room as a whole
Timeline
    lines, timeline     what an entry says, and the hash-chained log of each task; carbons: copies for who follows one
    seals, verify       the room-wide chain of heads, and the walk over all chains; folding: what they tell, compared
    redacting           words deleted for good; exporting: entries as programs read them
Tasks
    books               every act that is one commit
    desks, ending       tasks without a model, and how every task ends
    graph, graph_words  tasks that models work on, opened, held, blocked, woken and ended; moves: their statements
    tasks, approvals    rows of tasks, and of requests to people; accounts, origins: what entries say of a task
    ledger, memories    claims and leases of calls, and what roles remember
    boots               which openings of a room still live
Jobs
    jobs                hints that a task is ready; ready: the queue itself
    embedded_jobs       hints on SQLite; postgres_jobs: on Postgres
    bench, shifts       where tasks are worked on, and for how long
Contents
    blobs, contents     bytes under their digests, as files and as rows; syncing: many of them on disk at once
    versions, seen      every state of every path, and what became of one since
    keeping, pruning    which bytes must be kept, and which may go
Documents
    documents, known    rows of documents, and the least of them that a walk needs
    catalogue           rows listed; annotating: what is said of them; conversions: what was found out about contents
    touched, outbox     paths to look at, and what happened, for whoever listens
Index
    fulltext, finding   texts put into the index, and found there; sought: what is sought
    lexemes, vectors    words as every index knows them; standing, bm25: how well a text answers on Postgres
    reindexing, damage  the index made anew, and what is said where it is broken
"""
