"""Following a run at the terminal: show its events, ask the person, go on."""
