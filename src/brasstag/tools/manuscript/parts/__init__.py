"""The parts of a manuscript: the cards of a bible, the beats of an outline, the scenes."""
