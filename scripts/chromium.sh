#!/bin/sh
# Tests of the pages drive a real Chromium. Where the machine has none, install Debian's; where that cannot be, they say so.
set -u

if command -v chromium >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "No Chromium here: the tests of the pages are skipped. Install the package chromium to run them."
    exit 0
fi
echo "No Chromium here: installing Debian's for the tests."
export DEBIAN_FRONTEND=noninteractive
install="apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core"
if ! { $install || { apt-get update -qq && $install; }; } >/dev/null 2>&1; then
    echo "It could not be installed: the tests of the pages are skipped."
fi
exit 0
