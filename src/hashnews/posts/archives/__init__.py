"""Archives that people download of themselves, and files of other tools, as posts.

    outbox.json · tweets.js · repo.car · a .zip or .tar.gz around them ──▶ posts ──▶ the memory

`open_file` opens a file, told apart by its content; `members` goes through what is packed, `items`
reads JSON item by item. Each network has a file that says which items
are somebody's own posts. Nothing is unpacked to the disk, executed, followed or fetched.
"""
