"""Tasks at rest: their rows, states and edges, with the claims, approvals and memories that belong to them."""
