"""Arguments of a call: repaired, completed, checked, and what is wrong with them in words."""
