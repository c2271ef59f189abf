"""Files of any size: from paths to blocks of whole users, and their tables."""
