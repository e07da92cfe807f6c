#!/bin/sh
# The daemon of this machine; see: svc monitor --help
exec "$(dirname -- "$(readlink -f -- "$0")")/svc" monitor "$@"
