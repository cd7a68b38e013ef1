#!/usr/bin/env bash
# Install what makes a TypeScript client: tools/typescript/install.sh [FOLDER]
# Running it again does nothing.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
folder="${1:-${HASHNEWS_TYPESCRIPT:-${XDG_CACHE_HOME:-$HOME/.cache}/hashnews/typescript}}"
wanted="$(sha256sum "$here/package.json" | cut -d' ' -f1)"
if [ "$(cat "$folder/installed" 2>/dev/null)" != "$wanted" ]; then
  mkdir -p "$folder"
  cp "$here/package.json" "$folder"
  (cd "$folder" && npm install --silent --no-audit --no-fund --ignore-scripts >/dev/null)
  echo "$wanted" > "$folder/installed"
fi
echo "$folder"
