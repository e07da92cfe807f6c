#!/bin/sh
# Checks what a project needs; see: svc check-project-setup --help
exec "$(dirname -- "$(readlink -f -- "$0")")/svc" check-project-setup "$@"
