"""The ways to get a model, said in one place."""

WAYS = (
    "export ANTHROPIC_API_KEY=…    (a key from console.anthropic.com)",
    "export OPENAI_API_KEY=…       (a key from platform.openai.com, or OPENAI_BASE_URL for a server like it)",
    "ollama pull qwen3             (a model on this machine, from ollama.com)",
)

HOW_TO_SET_UP = "Set one up, in one of three ways:\n" + "\n".join(f"  {way}" for way in WAYS)
