#!/bin/sh
# Shows or grants consent to file findings; see: svc feedback consent --help
exec "$(dirname -- "$(readlink -f -- "$0")")/svc" feedback consent "$@"
