"""Small changes to one room, one at a time, each of which its own tests are to notice."""
