"""What is asked of the file system: files that appear whole, locks, logs, and looks at what others may have left."""
