"""One engine for what is dated: a file a day, mapped into memory."""
