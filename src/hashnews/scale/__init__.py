"""The same steps over days of files, one after the other or on a Ray cluster."""
