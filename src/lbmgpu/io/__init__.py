"""Files of a simulation: checkpoints and VTK images."""
