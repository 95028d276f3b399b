// Who and what the credits of a day went to.
import { left, measure } from './reading.mjs'
import { added, counts, key, UNATTRIBUTED, rowsOf, SPENDS } from './served.mjs'

export function modelDays(day) {
  const [header] = rowsOf('tokens', day)
  const nested = header?.by_model ?? []
  const grouped = rowsOf('tokens_by_model', day).map((row) => ({ ...row, model_id: row.group_key }))
  const parts = (nested.length > 0 ? nested : grouped).map((part) => ({
    model_id: part.model_id || UNATTRIBUTED,
    model_tier: part.model_tier ?? null,
    ...counts(part, SPENDS),
  }))
  const rest = Object.fromEntries(
    SPENDS.map((name) => [
      name,
      left(
        measure(name, header?.[name]),
        parts.map((part) => part[name]),
      ),
    ]),
  )
  const all = SPENDS.some((name) => rest[name] > 0n)
    ? [...parts, { model_id: UNATTRIBUTED, model_tier: null, ...rest }]
    : parts
  return added(all, ['model_id'], SPENDS).map((row) => ({
    ...key(day),
    ...row,
    model_tier:
      all.find((part) => part.model_id === row.model_id && part.model_tier)?.model_tier ?? null,
  }))
}

export function userModelDays(header) {
  const rows = []
  for (const user of header.by_user ?? []) {
    const user_id = user.user_id || UNATTRIBUTED
    const parts = (user.by_model ?? []).map((part) => ({
      user_id,
      model_id: part.model_id || UNATTRIBUTED,
      model_tier: part.model_tier ?? null,
      ...counts(part, SPENDS),
    }))
    rows.push(...parts, ...remainder(user, parts, user_id))
  }
  rows.push(...remainder(header, rows, UNATTRIBUTED))
  return added(rows, ['user_id', 'model_id'], SPENDS).map((row) => ({
    ...key(header.date),
    ...row,
    model_tier:
      rows.find((part) => part.user_id === row.user_id && part.model_id === row.model_id)
        ?.model_tier ?? null,
  }))
}

function remainder(total, parts, user_id) {
  const rest = Object.fromEntries(
    SPENDS.map((name) => [
      name,
      left(
        measure(name, total[name]),
        parts.map((part) => part[name]),
      ),
    ]),
  )
  if (!SPENDS.some((name) => rest[name] > 0n)) return []
  return [{ user_id, model_id: UNATTRIBUTED, model_tier: null, ...rest }]
}
