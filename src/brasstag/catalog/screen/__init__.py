"""Screening: what may not stand in the text of a prompt tool, found in linear time, with where and why.

Reading order: screen, detect, patterns, expressions, automaton, layers, decoders, views, fold, look_alikes, characters.
"""
