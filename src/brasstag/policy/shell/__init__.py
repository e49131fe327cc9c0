"""Shell: commands as they are written, read and judged. Pure: nothing is run, and nothing on disk is looked at.

commands     Word, Command, Doubt, Reading: what a text would run
parsing      bash text as a tree, within limits
spelling     one word of bash: quotes and escapes resolved, what is computed marked
reading      read_commands, read_code: every simple command of a text, wrappers opened
wrappers     commands that run other commands: env, sudo, xargs, find -exec, bash -c
python_code  the commands that Python code would start
doubts       what about one command nobody can know before it runs
dangers      tables of commands that destroy, stop or open up a machine
hidden       options and small programs by which everyday commands run others
judging      CommandRule: the shipped rules about commands
findings     what each of them looks for
guessing     wildcards that fit the names of secrets
plain        commands of nothing but words, which allow rules may cover
naming       the workspace files that a text names
showing      the commands of a call, line by line, for people

What is computed cannot be read. So these rules advise, and route to a person; the sandbox is the boundary.
"""
