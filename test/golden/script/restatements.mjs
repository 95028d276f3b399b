// What a later version of a day says otherwise.
import { groupBy, unique } from './reading.mjs'
import { answers, key, org_id, SPENDS } from './served.mjs'

/** What the later version of a day says otherwise, by the path of the field. */
export function restatements() {
  const found = []
  for (const [resource, versions] of groupBy(answers, (answer) => answer.resource)) {
    for (const newer of versions.slice(1)) {
      const older = versions[0]
      if (newer.meta.start_date > older.meta.end_date) continue
      const [before, after] = [older, newer].map(({ data }) =>
        said(
          resource,
          data.filter(({ date }) => date === newer.meta.start_date),
        ),
      )
      for (const name of unique([...before.keys(), ...after.keys()])) {
        const [old_value, new_value] = [before.get(name) ?? null, after.get(name) ?? null]
        if (old_value === new_value) continue
        const [entity_key, metric] = name.split(' ')
        const [old_fetched_at, new_fetched_at] = [older, newer].map(
          ({ fetched }) => `${fetched} 05:00:00+00`,
        )
        const times = { old_fetched_at, new_fetched_at }
        found.push({
          ...key(newer.meta.start_date),
          resource,
          entity_key,
          metric,
          old_value,
          new_value,
          ...times,
        })
      }
    }
  }
  return found
}

function said(resource, rows) {
  const found = new Map()
  const say = (entity, path, object, fields) => {
    for (const field of fields) {
      if (typeof object[field] === 'string') found.set(`${entity} ${path}${field}`, object[field])
    }
  }
  for (const row of rows) {
    if (resource === 'users') {
      say(
        row.user_id,
        '',
        row,
        Object.keys(row).filter((name) => name !== 'user_id' && name !== 'date'),
      )
      for (const language of row.languages ?? [])
        found.set(`${row.user_id}/${language} languages`, 'true')
      continue
    }
    say(
      org_id,
      '',
      row,
      Object.keys(row).filter((name) => name !== 'date'),
    )
    for (const model of row.by_model)
      say(model.model_id, 'by_model.', model, ['model_tier', ...SPENDS])
    for (const user of row.by_user) {
      say(user.user_id, 'by_user.', user, ['user_email', ...SPENDS])
      for (const model of user.by_model)
        say(`${user.user_id}/${model.model_id}`, 'by_user.by_model.', model, SPENDS)
    }
  }
  return found
}
