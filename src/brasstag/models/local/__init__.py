"""Model servers on this machine: find them, measure them, try them."""
