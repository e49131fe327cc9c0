"""Timed permissions as rules, and the digest of the policy that they count with."""
