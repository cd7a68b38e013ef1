#!/usr/bin/env bash
# Install a stand-in for a Mastodon server for the tests: tools/mastodon_mock.sh [FOLDER]
#
# In an environment of its own: it brings a web server and a database that HashNews does not need.
set -euo pipefail
folder="${1:-${HASHNEWS_MASTODON_MOCK:-${XDG_CACHE_HOME:-$HOME/.cache}/hashnews/mastodon_mock}}"
if [ ! -x "$folder/bin/mastodon_mock" ]; then
  python3 -m venv "$folder"
  "$folder/bin/pip" install -q mastodon_mock==0.6.1
fi
echo "$folder"
