#!/bin/sh
# Waits for events until a pull request is merged or closed, and asks the code host only when no event arrives in time.
#
#   wait-for-merge.sh <owner/name> <pull request> [seconds] [ticket]
#
# Prints the result. Exit codes: 0 merged, 1 closed without a merge, 2 usage, 3 still open.
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

# A skill that works on a ticket sets it in the workflow context of its worktree; the file is created if needed.
if [ -n "$ticket" ]; then svc context set-ticket "$ticket" >/dev/null || exit 2; fi

changes='.event == "codehost.pr.merged" or .event == "codehost.pr.closed" or .event == "codehost.pr.reopened"'

# Ends with the result of an event. A quote inside a text is escaped in JSON, so no title can look like a field.
finish_on() {
  case $1 in
    *'"event":"codehost.pr.merged"'*) echo "merged ($2)"; exit 0 ;;
    *'"event":"codehost.pr.closed"'*) echo "closed without a merge ($2)"; exit 1 ;;
  esac
}

# It may have happened already. The wait continues from that event, so none is lost in between.
last=$(svc events list --repo "$repo" --pr "$number" --filter "$changes" --limit 1 --json)
finish_on "$last" 'by a past event'
since=$(printf '%s' "$last" | sed -n 's/.*"seq":\([0-9][0-9]*\).*/\1/p')

line=$(svc events wait-for --event 'codehost.pr.*' --repo "$repo" --pr "$number" --since "${since:-1m}" \
  --filter '.event == "codehost.pr.merged" or .event == "codehost.pr.closed"' --timeout "$seconds" --strict)
finish_on "$line" 'by an event'

# No event in time, or none can arrive: the code host knows whether it was merged. It does not know
# whether the merge reached production; only deployment events report that.
state=$(gh pr view "$number" --repo "${GH_HOST:+$GH_HOST/}$repo" --json state --jq .state) || state=unknown
case $state in
  MERGED) echo 'merged (by the code host; whether it is in production is unknown)'; exit 0 ;;
  CLOSED) echo 'closed without a merge (by the code host)'; exit 1 ;;
  OPEN) echo "still open after $seconds s (by the code host)" ;;
  *) echo "no event within $seconds s, and the code host did not answer. Check: gh auth status" ;;
esac
exit 3
