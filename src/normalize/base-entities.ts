import { ENTITIES } from '../lake/resources.ts'
import { statement } from '../lib/package.ts'
import { BATCH_STATEMENTS, MACROS, parsedSql } from './batch.ts'
import { SCHEMA_DRIFT } from './drift.ts'
import { currentDays, digestOfStatements, type BaseEntity } from './base-plan.ts'
import { RESTATEMENTS } from './restatements.ts'

/**
 * Every table made from raw, in the order in which a batch makes them: first from all items as
 * served; then, after repeated items are removed, from the last item of each key; last with the
 * earlier versions added.
 */
export const BASE_ENTITIES: readonly BaseEntity[] = [
  SCHEMA_DRIFT,
  ...[...ENTITIES].map(flattened),
  RESTATEMENTS,
]

/** An entity that one statement makes of the parsed items of its resource. */
function flattened([name, resource]: readonly [string, string]): BaseEntity {
  const select = (): string => statement(`base/${name}`)
  return {
    name,
    resource,
    errorLabel: `sql/base/${name}.sql`,
    statementsDigest: digestOfStatements(() => [
      MACROS,
      ...BATCH_STATEMENTS,
      parsedSql(resource),
      select(),
    ]),
    sources: (options) => currentDays(options, (each) => each.resource === resource),
    prepareAndSelect: async (batch) => {
      await batch.removeRepeated()
      return select()
    },
  }
}

/** Digest of the statements that make an entity; empty if no single statement makes it. */
export function statementsDigestOf(name: string): string {
  return (
    BASE_ENTITIES.find(
      (each) => each.name === name && each.resource !== null,
    )?.statementsDigest() ?? ''
  )
}
