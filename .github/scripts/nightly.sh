#!/usr/bin/env bash
# The steps of .github/workflows/nightly.yml: nightly.sh <step>, a function below.
#
#   AGENT_WAREHOUSE_DATA   the data folder
#   ARCHIVE                the folder that the cache keeps: one file, what must outlive the night
#   ARTIFACTS              the folder whose files are offered as artifacts
#   PASSPHRASE             encrypts the archive and the artifacts; empty: they are not encrypted
#   CACHE_LIMIT_BYTES      what the platform keeps in the cache of one repository
set -euo pipefail
umask 077

# What the next night needs. Not seeds, which the repository tracks, nor what is made again.
KEPT=(lake quarantine runs published snapshots state warehouse.duckdb)
# Of one night and one machine: who writes, the key of redaction, files that were being written.
LEFT_OUT=(state/lock 'state/lock.*' state/redaction.key 'state/hooks/sender.lock*'
  state/failed state/verify state/as-of '.*.part' '.*.part.wal')

# The answer of GitHub's API about this repository, at a path below it. Fails if there is none.
github_api() {
  node --input-type=module - "$1" 2>/dev/null <<'JS'
const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN } = process.env
const headers = { authorization: `Bearer ${GITHUB_TOKEN}`, accept: 'application/vnd.github+json' }
const signal = AbortSignal.timeout(30_000)
const url = `${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}${process.argv[2]}`
const response = await fetch(url, { headers, signal })
if (!response.ok) process.exit(1)
console.log(JSON.stringify(await response.json()))
JS
}

# A field of the JSON object on standard input, as JSON.
field() {
  node -p "JSON.stringify(JSON.parse(require('fs').readFileSync(0))['$1'])"
}

# Fails unless GitHub says that the repository is private: its caches and artifacts contain personal
# data. Asked every night, because the event of a schedule does not say it.
require_private() {
  local answer
  answer=$(github_api '') || refuse 'it is not known whether this repository is private'
  [ "$(field private <<<"$answer")" = true ] || refuse 'this repository is not private'
  [ "$(field visibility <<<"$answer")" != '"public"' ] || refuse 'this repository is not private'
}

refuse() {
  fail "refused: $1. The caches and artifacts of this workflow contain personal data."
}

# The cache reports a failed download as a miss. An archive of this night alone would then become the
# newest one, and every later night would continue from it. Only archives of this branch count,
# because those of another one are not restored.
require_no_archive() {
  local ref answer again='run the workflow again. To begin from nothing, delete the archives under Actions, Caches.'
  ref=$(node -p 'encodeURIComponent(process.env.GITHUB_REF)')
  answer=$(github_api "/actions/caches?key=agent-warehouse-archive-&ref=$ref") ||
    fail "no archive was restored, and it is not known whether there is one: $again"
  [ "$(field total_count <<<"$answer")" = 0 ] || fail "no archive was restored, but there is one: $again"
}

# Puts the last archive into the data folder: only the folders of KEPT, so no tracked file is replaced.
unpack() {
  local sealed="$ARCHIVE/data.tar.gz.gpg" plain="$ARCHIVE/data.tar.gz" staging each
  staging=$(mktemp -d "$RUNNER_TEMP/unpack.XXXXXX")
  mkdir -p "$AGENT_WAREHOUSE_DATA"
  if [ -e "$sealed" ]; then
    [ -n "${PASSPHRASE:-}" ] || fail 'the archive is encrypted, and the secret AGENT_WAREHOUSE_PASSPHRASE is not set'
    # Read as a whole before any of it is used: gpg verifies it at the end.
    unseal <"$sealed" >"$staging/data.tar.gz" ||
      fail 'the archive cannot be decrypted: AGENT_WAREHOUSE_PASSPHRASE is not the one of the last night'
    plain="$staging/data.tar.gz"
  elif [ ! -e "$plain" ]; then
    require_no_archive
    warn 'no archive was found: this is the first night, or the cache dropped it. The whole history is requested again; what the platform no longer serves is gone.'
    return
  fi
  mkdir "$staging/data"
  tar --extract --gzip --preserve-permissions --file "$plain" --directory "$staging/data" ||
    fail 'the archive is damaged. Delete it under Actions, Caches, to begin from nothing.'
  for each in "${LEFT_OUT[@]:0:4}"; do rm -rf "$staging/data/"$each; done
  for each in "${KEPT[@]}"; do
    [ -e "$staging/data/$each" ] || continue
    rm -rf "${AGENT_WAREHOUSE_DATA:?}/$each"
    mv "$staging/data/$each" "$AGENT_WAREHOUSE_DATA/$each"
  done
  rm -rf "$staging"
}

run() {
  local code=0 nights
  [ -n "${AGENT_WAREHOUSE_REDACTION_KEY:-}" ] ||
    warn 'the secret AGENT_WAREHOUSE_REDACTION_KEY is not set: redacted settings count as changed every night'
  without_commands warehouse_run || code=$?
  summarize <"$RUNNER_TEMP/summary.txt"
  # 3 (some intervals failed) and 4 (deferred) are published and go on the next night.
  case "$code" in
    0) return 0 ;;
    3 | 4) ;;
    *) return "$code" ;;
  esac
  nights=$(nights_short)
  if [ "$nights" -ge 3 ]; then
    fail "exit code $code; no night was complete for $nights nights in a row"
  fi
  warn "exit code $code: partial or deferred, $nights nights in a row; the third fails the job"
}

warehouse_run() {
  local code=0
  # Progress and errors go to the log at once. After 4 h it builds what has landed, so that the job,
  # which ends after 340 minutes, has the time to pack it.
  node dist/cli/main.js run --log text --max-duration 4h >"$RUNNER_TEMP/summary.txt" || code=$?
  cat "$RUNNER_TEMP/summary.txt"
  return "$code"
}

# How many runs up to this one, one a night, were not complete.
nights_short() {
  node --input-type=module <<'JS'
import { readdirSync, readFileSync } from 'node:fs'
const folder = `${process.env.AGENT_WAREHOUSE_DATA}/runs`
const runs = readdirSync(folder).flatMap((file) => {
  try {
    const record = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'))
    return record.command === 'run' ? [record] : []
  } catch {
    return [] // cut off by a crash
  }
})
runs.sort((a, b) => (a.started_at < b.started_at ? 1 : -1))
const complete = runs.findIndex(({ status }) => status === 'complete')
console.log(complete < 0 ? runs.length : complete)
JS
}

export_marts() {
  [ -e "$AGENT_WAREHOUSE_DATA/warehouse.duckdb" ] || return 0
  without_commands node dist/cli/main.js export parquet
  without_commands node dist/cli/main.js export csv
}

# The report as one file, and its findings in the job's summary: what was served is text in both.
write_report() {
  local format findings="$AGENT_WAREHOUSE_DATA/report/report.md"
  [ -e "$AGENT_WAREHOUSE_DATA/warehouse.duckdb" ] || return 0
  for format in html md; do
    without_commands node dist/cli/main.js report --format "$format"
  done
  [ ! -e "$findings" ] || head -c 200000 "$findings" >>"$GITHUB_STEP_SUMMARY"
}

# Makes the one file that the cache keeps.
pack() {
  local name=data.tar.gz new each size
  local members=() options=()
  mkdir -p "$ARCHIVE"
  for each in "${KEPT[@]}"; do
    if [ -e "$AGENT_WAREHOUSE_DATA/$each" ]; then members+=("$each"); fi
  done
  for each in "${LEFT_OUT[@]}"; do options+=("--exclude=$each"); done
  if [ "${#members[@]}" -eq 0 ]; then
    warn 'there is nothing to keep'
    return
  fi
  new="$RUNNER_TEMP/$name.new"
  # This format keeps times to the nanosecond: the published file is known by its own.
  tar --create --format=posix --directory "$AGENT_WAREHOUSE_DATA" "${options[@]}" "${members[@]}" |
    gzip -1 | sealed >"$new"
  if [ -n "${PASSPHRASE:-}" ]; then name="$name.gpg"; fi
  rm -f "$ARCHIVE"/data.tar.gz*
  mv "$new" "$ARCHIVE/$name"
  size=$(wc -c <"$ARCHIVE/$name")
  if [ "$size" -ge "$CACHE_LIMIT_BYTES" ]; then
    fail "the archive has $(megabytes "$size"), more than the cache keeps ($(megabytes "$CACHE_LIMIT_BYTES")): this night is lost. Run agent-warehouse on a machine with a disk."
  elif [ "$size" -ge $((CACHE_LIMIT_BYTES / 2)) ]; then
    warn "the archive has $(megabytes "$size") of the $(megabytes "$CACHE_LIMIT_BYTES") that the cache keeps: two nights do not fit any more, and soon none will. Move to a machine with a disk."
  fi
}

# What people download: encrypted where the archive is.
artifacts() {
  mkdir -p "$ARTIFACTS"
  local exports="$AGENT_WAREHOUSE_DATA/exports" file
  for file in "$AGENT_WAREHOUSE_DATA"/{warehouse.duckdb,report/report.html}; do
    [ -e "$file" ] || continue
    if [ -n "${PASSPHRASE:-}" ]; then
      sealed <"$file" >"$ARTIFACTS/$(basename "$file").gpg"
    else
      cp "$file" "$ARTIFACTS/"
    fi
  done
  if [ -n "${PASSPHRASE:-}" ]; then
    [ ! -e "$exports" ] ||
      tar --create --directory "$AGENT_WAREHOUSE_DATA" exports | gzip -1 | sealed >"$ARTIFACTS/exports.tar.gz.gpg"
  else
    [ ! -e "$exports" ] || cp -R "$exports" "$ARTIFACTS/"
  fi
}

# Encrypts standard input, or copies it if there is no passphrase.
sealed() {
  if [ -z "${PASSPHRASE:-}" ]; then
    cat
  else
    gpg_with_passphrase --symmetric --cipher-algo AES256 --s2k-digest-algo SHA512 \
      --s2k-count 65011712 --compress-algo none
  fi
}

unseal() {
  gpg_with_passphrase --decrypt
}

# The passphrase comes by a pipe: arguments can be read by every process.
gpg_with_passphrase() {
  local home code=0
  home=$(mktemp -d "${TMPDIR:-/tmp}/gpg.XXXXXX")
  gpg --homedir "$home" --batch --quiet --no-tty --pinentry-mode loopback --no-symkey-cache \
    --passphrase-fd 3 "$@" 3< <(printf '%s' "$PASSPHRASE") || code=$?
  GNUPGHOME="$home" gpgconf --kill all >/dev/null 2>&1 || true
  rm -rf "$home"
  return "$code"
}

# Runs a command whose output, of which the platform's server wrote some, holds no commands of the
# runner. Both streams as one: the runner reads each by itself.
without_commands() {
  local token code=0
  token=$(LC_ALL=C od -An -N20 -tx1 /dev/urandom | tr -d ' \n')
  printf '::stop-commands::%s\n' "$token"
  "$@" 2>&1 || code=$?
  printf '\n::%s::\n' "$token"
  return "$code"
}

# Into the job's summary, as text: the fence is longer than any that the text has.
summarize() {
  local text="$RUNNER_TEMP/shown.txt" longest fence
  # Beyond a megabyte the runner shows no summary at all.
  head -c 200000 | LC_ALL=C tr -d '\000-\010\013-\037\177' >"$text"
  longest=$( (LC_ALL=C grep -ao '`\+' "$text" || true) | awk 'length > max { max = length } END { print max + 0 }')
  fence=$(printf '%*s' "$((longest < 3 ? 3 : longest + 1))" '' | tr ' ' '`')
  {
    printf '### agent-warehouse\n\n%stext\n' "$fence"
    cat "$text"
    printf '\n%s\n' "$fence"
  } >>"$GITHUB_STEP_SUMMARY"
}

megabytes() {
  printf '%s MB' "$(($1 / 1000000))"
}

warn() {
  printf '::warning title=agent-warehouse::%s\n' "$1"
}

fail() {
  printf '::error title=agent-warehouse::%s\n' "$1"
  exit 1
}

case "${1:-}" in
  require_private | unpack | run | export_marts | write_report | pack | artifacts) "$1" ;;
  *)
    echo "usage: nightly.sh require_private|unpack|run|export_marts|write_report|pack|artifacts" >&2
    exit 2
    ;;
esac
