"""Helpers of search_code: the query, and the matching lines."""
