#!/bin/sh
# Code runs confined by bubblewrap. Where the machine has none, install the system's; where that cannot be, say so.
set -u

if command -v bwrap >/dev/null 2>&1; then
    exit 0
fi
if [ "$(uname -s)" != Linux ]; then
    echo "Code can be confined on Linux only: run_code and shell refuse to run here."
    exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "No bubblewrap here: run_code and shell refuse to run until root installs the package bubblewrap."
    exit 0
fi
echo "No bubblewrap here: installing the system's."
export DEBIAN_FRONTEND=noninteractive
debian="apt-get install -qq -y --no-install-recommends bubblewrap"
if command -v apt-get >/dev/null 2>&1; then
    $debian >/dev/null 2>&1 || { apt-get update -qq && $debian; } >/dev/null 2>&1
elif command -v dnf >/dev/null 2>&1; then
    dnf install -q -y bubblewrap >/dev/null 2>&1
elif command -v apk >/dev/null 2>&1; then
    apk add -q bubblewrap >/dev/null 2>&1
elif command -v pacman >/dev/null 2>&1; then
    pacman -S --noconfirm --needed bubblewrap >/dev/null 2>&1
fi
if ! command -v bwrap >/dev/null 2>&1; then
    echo "It could not be installed: run_code and shell refuse to run, and their tests are skipped."
fi
exit 0
