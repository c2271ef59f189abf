"""The border: labels and frames above it, arrays below it."""
