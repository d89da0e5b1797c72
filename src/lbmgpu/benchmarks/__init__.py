"""Measures speeds beside those of the machine: one device, several of them, the CPU's share, and power."""
