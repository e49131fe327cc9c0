"""Converters: programs that run confined and turn bytes into blocks; each imports only what it needs."""
