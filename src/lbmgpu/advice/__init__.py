"""What to expect of a setup before it runs: linear stability and rules of thumb."""
