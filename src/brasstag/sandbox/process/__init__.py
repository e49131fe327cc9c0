"""Confined processes: code runs where it can do no harm, on a layer over the workspace.

Nothing it does has happened: its change set is read from the layer, staged into a Draft, judged, and lands like any other
change, whole or not at all.
"""
