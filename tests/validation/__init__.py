"""The solver against exact and published solutions of the Navier-Stokes equations."""
