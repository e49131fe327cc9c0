"""The control room: pages, one HTTP API and one stream of events, over the rooms that `brasstag serve` opens."""
