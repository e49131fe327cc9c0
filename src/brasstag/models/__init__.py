"""Models: providers, scripts and recordings behind one Protocol, ``words.turns.Model``."""
