"""Models of providers, through pydantic-ai, which is imported only here."""
