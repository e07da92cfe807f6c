#!/bin/sh
# Waits until a pull request is merged or closed, by events, and asks the code host only when none came in time.
#
#   wait-for-merge.sh <owner/name> <pull request> [seconds] [ticket]
#
# Prints what became of it. Exit codes: 0 merged, 1 closed without a merge, 2 usage, 3 still open.
set -u

usage() {
  echo "usage: $0 <owner/name> <pull request> [seconds] [ticket]" >&2
  exit 2
}

if [ $# -lt 2 ] || [ $# -gt 4 ]; then usage; fi
repo=$1 number=$2 seconds=${3:-600} ticket=${4:-}
case $repo in */*/* | /* | */ | *[!A-Za-z0-9._/-]*) usage ;; */*) ;; *) usage ;; esac
case $number in '' | *[!0-9]*) usage ;; esac
case $seconds in '' | *[!0-9]*) usage ;; esac

# A skill that works on a ticket says so in the workflow context of its worktree; the file is made if need be.
if [ -n "$ticket" ]; then svc context set-ticket "$ticket" >/dev/null || exit 2; fi

turns='.event == "codehost.pr.merged" or .event == "codehost.pr.closed" or .event == "codehost.pr.reopened"'

# What an event line tells. A quote inside of a text is escaped in JSON, so that no title can look like a field.
tell() {
  case $1 in
    *'"event":"codehost.pr.merged"'*) echo "merged ($2)"; exit 0 ;;
    *'"event":"codehost.pr.closed"'*) echo "closed without a merge ($2)"; exit 1 ;;
  esac
}

# It may have happened already. From the line after that on it is waited for, so that nothing falls in between.
last=$(svc events list --repo "$repo" --pr "$number" --filter "$turns" --limit 1 --json)
tell "$last" 'by an event of the past'
since=$(printf '%s' "$last" | sed -n 's/.*"seq":\([0-9][0-9]*\).*/\1/p')

line=$(svc events wait-for --repo "$repo" --pr "$number" --since "${since:-1m}" \
  --filter '.event == "codehost.pr.merged" or .event == "codehost.pr.closed"' --timeout "$seconds" --strict)
tell "$line" 'by an event'

# No event in time, or the feed is blind, or no daemon runs: the code host knows whether it was merged. It does not
# know whether the merge reached production; that is told by deployment events alone.
state=$(gh pr view "$number" --repo "${GH_HOST:+$GH_HOST/}$repo" --json state --jq .state) || state=unknown
case $state in
  MERGED) echo 'merged (the code host was asked; a deploy to production is not known this way)'; exit 0 ;;
  CLOSED) echo 'closed without a merge (the code host was asked)'; exit 1 ;;
  OPEN) echo "still open after $seconds s (the code host was asked)" ;;
  *) echo "not seen within $seconds s, and the code host could not be asked" ;;
esac
exit 3
