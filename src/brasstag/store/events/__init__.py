"""Events: what happened in a room, in one sequence, for watchers that may come and go."""
