"""The sixteen core prompt tools, as they are shipped."""
