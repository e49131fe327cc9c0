"""The command line.

main        the app: every command
failures    whatever goes wrong, as one paragraph and an exit code
streams     standard streams that can be relied on
console     what people read on a terminal, what programs read from a pipe
visible     text in which nothing hides
figures     counts and money as people read them
questions   asking the person at the terminal
interrupts  Ctrl-C and SIGTERM, heard on the event loop
options     options that many commands share
budgets     limits given on the command line
completing  what the shell offers on Tab
exits       exit codes
rooms       opening a room for a command, or its books alone
trusting    showing changed control files before they are loaded
people      who sits at the terminal, and whose token this is
times       times as people read them

run         run, watch, resume            running     working on a run here, or having it worked on
                                          following   a run until it ends, waits, or is left
                                          showing, happenings, pictures   what is seen of it meanwhile
                                          endings     how following ends
tasks       tasks, answer, stop           answering, inquiries, stopping  what people do about them
worker      worker                        working, background, going_on   who serves a room
cost        what runs have taken          memories    what agents remember
call        call, undo                    outcomes    how a call ended
approvals   list, show, approve, deny     deciding, approving   a person's yes or no, and what follows
timeline    show, export, verify, …       entries     its entries, for eyes
policy      test, explain, replay         diffs       what a call would change, for eyes
documents   list, show, search, diff, …   document_lookups, document_calls, filters, reindexing, pruning   what they do
                                          document_output, version_output, tables, snippets   what they print
tools       list, show, schema, docs, new describing  one tool, for eyes
project     init, trust, gc               doctor      what works here and what does not
approvers   tokens for deciding without a terminal
demo        the stories `brasstag demo` plays: stage, story_crew, story_counter
"""
