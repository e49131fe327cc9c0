"""The gate: the only way by which a change reaches the live catalog."""
