"""Pictures of fields with a period: planes, renderings of three dimensions, movies, and pictures in notebooks."""
