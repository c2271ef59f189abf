"""What is said about rows and tables of users: ranks, descriptions, intervals, comparisons."""
