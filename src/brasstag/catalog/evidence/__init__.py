"""Evidence and receipts: what a bound reply has to carry, read and checked. Pure: no store, no sandbox."""
