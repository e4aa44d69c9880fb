"""Element types, sizes and tensor types (floor 1)."""
