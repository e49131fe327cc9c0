"""Agent Skills: write a prompt tool as a skill, and read a skill as a document that can be proposed."""
