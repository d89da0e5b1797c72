"""Tests that the engine equals the NumPy reference solver, and that its own variants give identical bits.

The variants are the streaming, the layout of blocks, the device and the number of threads.
"""
