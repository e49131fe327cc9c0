#!/bin/sh
# Tests start a Postgres of their own. Where the machine has none, install Debian's; where that cannot be, they say so.
set -u

has_server() {
    command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 ||
        { command -v pg_config >/dev/null 2>&1 && [ -x "$(pg_config --bindir)/initdb" ]; }
}

if has_server; then
    exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "No Postgres here: its tests are skipped. Install the package postgresql to run them."
    exit 0
fi
echo "No Postgres here: installing Debian's for the tests."
# The tests want the programs, not a cluster that runs beside them.
mkdir -p /etc/postgresql-common
[ -e /etc/postgresql-common/createcluster.conf ] ||
    echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
export DEBIAN_FRONTEND=noninteractive
install="apt-get install -qq -y --no-install-recommends postgresql"
if ! { $install || { apt-get update -qq && $install; }; } >/dev/null 2>&1; then
    echo "It could not be installed: the tests on Postgres are skipped."
fi
exit 0
