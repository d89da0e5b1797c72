"""The layout that should be the fastest: a model of a step, the machine's speeds for it, and the choice."""
