"""The engine against the reference, and against itself."""
