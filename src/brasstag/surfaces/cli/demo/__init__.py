"""The demo: real commands played on a real room in a scratch directory."""
