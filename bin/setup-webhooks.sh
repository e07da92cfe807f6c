#!/bin/sh
# Sets up relay channel, secret and webhooks; see: svc setup-webhooks --help
exec "$(dirname -- "$(readlink -f -- "$0")")/svc" setup-webhooks "$@"
