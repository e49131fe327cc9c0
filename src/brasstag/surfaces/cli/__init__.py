"""The command line.

main        the app: every command
failures    whatever goes wrong, as one paragraph and an exit code
streams     standard streams that can be relied on
console     what people read on a terminal, what programs read from a pipe
visible     text in which nothing hides
questions   asking the person at the terminal
options     options that many commands share
completing  what the shell offers on Tab
exits       exit codes
rooms       opening a room for a command, or its books alone
trusting    showing changed control files before they are loaded
people      who sits at the terminal, and whose token this is
times       times as people read them

call        call, undo                    outcomes    how a call ended
approvals   list, show, approve, deny     deciding, approving   a person's yes or no, and what follows
timeline    show, export, verify, …       entries     its entries, for eyes
policy      test, explain, replay         diffs       what a call would change, for eyes
tools       list, show, schema, docs, new describing  one tool, for eyes
project     init, trust, stop, gc         doctor      what works here and what does not
approvers   tokens for deciding without a terminal
demo        the story `make demo` plays
"""
