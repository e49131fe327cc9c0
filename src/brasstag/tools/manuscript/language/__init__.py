"""What English sentences say: words, numbers, dates, times, and who is meant."""
