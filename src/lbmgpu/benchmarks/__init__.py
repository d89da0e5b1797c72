"""Measures speeds, compared with the machine's bandwidth: one device, several devices, the CPU's share, and power."""
