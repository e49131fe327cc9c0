"""The terminal itself: streams, tables, prompts, interrupts, exit codes."""
