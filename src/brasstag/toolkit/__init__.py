"""The toolkit: what a tool is, how one is declared, and how it is shown to a model."""
