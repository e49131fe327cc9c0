"""The network: what is fetched from the web, and never from an internal network.

The client itself (httpcore2) is imported when something is fetched for the first time.
"""
