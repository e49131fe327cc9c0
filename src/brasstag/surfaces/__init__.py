"""Surfaces: where people and programs use Brasstag; today the command line."""
