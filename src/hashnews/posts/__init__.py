"""Earlier posts: the table in the store that the memory is made from."""
