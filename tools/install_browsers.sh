#!/usr/bin/env bash
# Makes browsers available from what the system offers: a Chromium, which prints the PDF and runs most
# tests of pages, and, if its package is named ("tools/install_browsers.sh firefox-esr"), a Firefox.
# Prints one line a browser that says what it found or did. Never fails: without a browser its tests
# are skipped, with the same message.
set -uo pipefail
export DEBIAN_FRONTEND=noninteractive

find_browser() {
    local name
    for name in "$@"; do
        command -v "$name" && return 0
    done
    return 1
}

provide() {
    local package=$1 browser as_root=()
    shift
    if browser=$(find_browser "$@"); then
        echo "Browser: use $browser."
        return
    fi
    local missing="Browser: no $package, and the tests that need it are skipped:"
    if ! command -v apt-get >/dev/null; then
        echo "$missing it was not found and there is no apt-get."
        return
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
            echo "$missing it was not found and installing it needs root."
            return
        fi
        as_root=(sudo -n)
    fi
    echo "Browser: installing the system's package $package ..."
    if "${as_root[@]}" apt-get update -qq >/dev/null 2>&1 &&
        "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 &&
        browser=$(find_browser "$@"); then
        echo "Browser: use $browser."
    else
        echo "$missing the package could not be installed."
    fi
}

provide chromium chromium chromium-browser google-chrome google-chrome-stable
for package in "$@"; do
    provide "$package" firefox-esr firefox
done
