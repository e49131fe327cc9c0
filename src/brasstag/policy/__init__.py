"""Policy: what may be done, by whom, and the proof of it. Pure: no files, no clock, no network.

globs         globs as linear-time expressions
subjects      a call as rules see it: its paths, commands and arguments
topics        what a pattern can be about: the whole call, its paths, one argument
patterns      ``tool(specifier)``
rules         Rule: deny, ask or allow, and why
python_rules  a rule that is a callable
profiles      what a profile and a tool's own approval say where no rule speaks
judging       Rules: all rules of a room; the verdict on one call
loading       rules from settings, with their examples checked
examples      calls a rule must, or must not, speak about
shipped       the rules every room has
shell/        commands as they are written, read and judged
rule_engine   RuleEngine and SafetyRule, to add rules in Python
roles         which tools a role may use
grants        Grant: the proof that a call may run
explain       why a verdict is what it is
narrow        the narrowest allow rule for a call a person approved
replay        what other rules would have said about recorded calls
"""
