#!/usr/bin/env bash
# Makes a Chromium available for the browser tests and the PDF, from what the system offers.
# Prints one line that says what it found or did. Never fails: without a browser those tests are
# skipped, with the same message.
set -uo pipefail

find_browser() {
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" && return 0
    done
    return 1
}

say_missing() {
    echo "Browser: none, because $1. Install Chromium or Google Chrome: it prints the PDF, and the tests that need it are skipped without."
    exit 0
}

if browser=$(find_browser); then
    echo "Browser: use $browser."
    exit 0
fi
command -v apt-get >/dev/null || say_missing "no Chromium was found and there is no apt-get"
if [ "$(id -u)" -eq 0 ]; then
    as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
else
    say_missing "no Chromium was found and installing one needs root"
fi
echo "Browser: installing the system's package chromium ..."
export DEBIAN_FRONTEND=noninteractive
if "${as_root[@]}" apt-get update -qq >/dev/null 2>&1 &&
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1 &&
    browser=$(find_browser); then
    echo "Browser: use $browser."
else
    say_missing "the package chromium could not be installed"
fi
