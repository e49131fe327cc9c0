"""Models: providers, scripts and recordings behind one Protocol, ``words.turns.Model``.

addressing    "openai:gpt-5", "ollama:qwen3", "scripted:FILE" … ─▶ a Model; rack keeps them, one of each
choosing      which model to use when nobody named one; probing looks for servers on this machine
provider      any provider, through pydantic-ai; wire, lines and mishaps are its heavy parts, imported when first used
prompted      around a Model that does not call tools reliably
retrying      around a Model that may be busy, with another to fall back on
scripted, recorded    turns that somebody wrote, or that a live model gave earlier
"""
