"""Frames from lists, matrices, runs and groups; `rows` has the steps that they share."""
