"""Screening: what may not stand in the text of a prompt tool, found in linear time, with where and why.

Reading order: screen, patterns, expressions, fold, views, layers, decoders, characters, look_alikes.
"""
