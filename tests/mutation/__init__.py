"""Small changes to one room, one at a time, each of which its tests are to notice."""
