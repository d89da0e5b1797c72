"""Processes, threads and devices: collective calls of ranks, locks, and the devices that a solver can run on."""
