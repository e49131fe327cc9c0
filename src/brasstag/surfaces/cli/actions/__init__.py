"""What commands do once they run; loaded only then, so that `--help` stays quick."""
