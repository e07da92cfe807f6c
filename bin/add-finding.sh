#!/bin/sh
# Adds a finding to the queue; see: svc add-finding --help
exec "$(dirname -- "$(readlink -f -- "$0")")/svc" add-finding "$@"
