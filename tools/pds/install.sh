#!/usr/bin/env bash
# Install a real Bluesky server for the tests: tools/pds/install.sh [FOLDER]
#
# Node 22 comes as a package (the system's Node may be older), the server from npm, and SQLite's
# binding is built against exactly that Node's headers: others give the wrong ABI. Running it
# again does nothing.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
folder="${1:-${HASHNEWS_PDS:-${XDG_CACHE_HOME:-$HOME/.cache}/hashnews/pds}}"
node_version=22.23.3
stamp="$folder/installed"
wanted="$node_version $(sha256sum "$here/package.json" | cut -d' ' -f1)"
if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
  echo "$folder"
  exit 0
fi
mkdir -p "$folder"
cd "$folder"
rm -rf node installed node_modules package-lock.json
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64) platform=linux-arm64 ;;
  *) echo "there is no Node package for $(uname -s) $(uname -m)" >&2; exit 1 ;;
esac
archive="$(npm pack --silent "node-$platform@$node_version")"
mkdir node
tar -xzf "$archive" --strip-components=1 -C node
rm "$archive"
export PATH="$folder/node/bin:$PATH"
cp "$here/package.json" .
npm install --silent --no-audit --no-fund --ignore-scripts
export npm_config_nodedir="$folder/node" # stronger than a setting of the user's
(cd node_modules/better-sqlite3 && npx --yes node-gyp rebuild --release >build.log 2>&1)
echo "$wanted" > "$stamp"
echo "$folder"
