"""The C++ engine, made of checked arguments and driven: settings, memory, values of walls, and the simulation."""
