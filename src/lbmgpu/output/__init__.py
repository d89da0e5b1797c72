"""What a run leaves: recorders of statistics, probes, series of fields and pictures."""
