"""Rows about documents: what is known of them, what people say of them, and what happened to them."""
