"""Functions of time as values, and products of them with something that is fixed in time."""
