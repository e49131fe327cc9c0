"""Recovery: what dead processes left behind is settled or given to others."""
