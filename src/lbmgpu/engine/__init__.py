"""Makes the C++ engine from checked arguments and drives it: settings, memory, values of walls, the simulation."""
