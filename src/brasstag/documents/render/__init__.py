"""Render: text that is meant as a PDF or Word file becomes one."""
