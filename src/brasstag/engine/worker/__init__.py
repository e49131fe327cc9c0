"""The worker: one process that works on ready tasks until they end or block."""
