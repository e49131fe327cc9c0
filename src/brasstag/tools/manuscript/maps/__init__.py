"""Maps of a story: stakes, effects on later scenes, what a reader knows, beats against a structure."""
