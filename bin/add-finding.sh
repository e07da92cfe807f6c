#!/bin/sh
# Queues a finding; see: svc add-finding --help
exec "$(dirname -- "$(readlink -f -- "$0")")/svc" add-finding "$@"
