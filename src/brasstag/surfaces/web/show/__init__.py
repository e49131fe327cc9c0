"""What templates use to show things: text with invisible characters written out, times, diffs, pictures."""
