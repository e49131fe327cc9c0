"""Facts that sentences and cards state, in a form that can be compared."""
