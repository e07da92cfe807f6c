#!/bin/sh
# Stores the tracker's ids; see: svc resolve-tracker-ids --help
exec "$(dirname -- "$(readlink -f -- "$0")")/svc" resolve-tracker-ids "$@"
