"""The checkers: each compares what two places say, and reports contradictions with both quotes."""
