"""Processes, threads and devices: what ranks do together, who waits for whom, and what a solver can run on."""
