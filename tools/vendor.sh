#!/usr/bin/env bash
# Fetch the third-party scripts the site carries, so that it works without a network.
#
#   tools/vendor.sh          fetch again from npm, copy the needed files, compare with the recorded checksums
#   tools/vendor.sh --check  compare the copies in the repository with the recorded checksums (no network)
#   tools/vendor.sh --record fetch again and record new checksums (after changing a version below)
#
# Every package keeps its licence beside it. Nothing here is edited: book/static/widgets.js holds our own glue.
set -euo pipefail
cd "$(dirname "$0")/.."

sums=tools/vendor.sha256
site=book/static/vendor
axe=tests/site/vendor/axe-core

check() { sha256sum --check --quiet "$sums" && echo "vendored files agree with $sums"; }
if [ "${1:-}" = --check ]; then check; exit; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() {  # name, npm package: unpacks to $work/name
  mkdir -p "$work/$1"
  (cd "$work/$1" && npm pack --silent "$2" >/dev/null && tar -xzf ./*.tgz --strip-components=1)
}

fetch mathjax mathjax@3.2.2                                   # Apache 2.0
fetch requirejs requirejs@2.3.4                               # MIT
fetch html-manager @jupyter-widgets/html-manager@1.0.15       # BSD 3-Clause
python3 -m pip download --quiet --no-deps --dest "$work/widgets" ipywidgets==8.1.9  # carries the licence of the line above
(cd "$work/widgets" && python3 -m zipfile -e ./*.whl .)
fetch minisearch minisearch@7.2.0                               # MIT
fetch axe axe-core@4.14.1                                     # MPL 2.0, used by the tests only

rm -rf "$site" "$axe"
mkdir -p "$site"/{mathjax/output/chtml/fonts,requirejs,html-manager,minisearch} "$axe"
cp "$work"/mathjax/{LICENSE,es5/tex-chtml.js} "$site/mathjax/"
cp -r "$work/mathjax/es5/output/chtml/fonts/woff-v2" "$site/mathjax/output/chtml/fonts/"
cp "$work/requirejs/require.js" "$site/requirejs/"
sed -n '/@license/p;/MIT/p' "$work/requirejs/require.js" | head -2 > "$site/requirejs/LICENSE"
cp "$work"/html-manager/dist/{embed-amd.js,*.woff,*.woff2} "$site/html-manager/"
cp "$work"/widgets/ipywidgets-*.dist-info/licenses/LICENSE "$site/html-manager/"
cp "$work/minisearch/LICENSE.txt" "$site/minisearch/LICENSE"
sed '/sourceMappingURL/d' "$work/minisearch/dist/umd/index.js" > "$site/minisearch/minisearch.js"
cp "$work"/axe/{LICENSE,LICENSE-3RD-PARTY.txt,axe.min.js} "$axe/"

if [ "${1:-}" = --record ]; then
  find "$site" "$axe" -type f | LC_ALL=C sort | xargs sha256sum > "$sums"
fi
check
