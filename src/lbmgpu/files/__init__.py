"""Access to the file system: files that appear whole, locks, logs, and checks of files that others may have left."""
