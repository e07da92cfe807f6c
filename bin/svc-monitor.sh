#!/bin/sh
# Starts, stops and inspects the daemon; see: svc monitor --help
exec "$(dirname -- "$(readlink -f -- "$0")")/svc" monitor "$@"
