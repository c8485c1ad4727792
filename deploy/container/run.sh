#!/bin/sh
# The entry point of compose files for the Go relayer's image: waits for the nodes of both chains, and starts the relayer.
exec neutron_query_relayer start --wait 24h "$@"
