import { ENTITIES } from '../lake/resources.ts'
import { statement } from '../lib/package.ts'
import { BATCH_STATEMENTS, type DaySource } from './batch.ts'
import { SCHEMA_DRIFT } from './drift.ts'
import { MACROS, parsedSql } from './items.ts'
import { makerOf, type BaseEntity, type NormalizeOptions } from './plan.ts'
import { RESTATEMENTS } from './restatements.ts'

/**
 * Every table that is made from raw, in the order in which they are made of a batch: of all
 * items as they were served, of those that stand, and of all versions in their place.
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
    madeBy: `sql/base/${name}.sql`,
    maker: makerOf(() => [MACROS, ...BATCH_STATEMENTS, parsedSql(resource), select()]),
    sources: (options) => currentVersions(options, resource),
    select: async (_database, batch) => {
      await batch.leaveOutDisplaced()
      return select()
    },
  }
}

function currentVersions({ ledger }: NormalizeOptions, resource: string): DaySource[] {
  return [...ledger.values()].flatMap(({ resource: own, day, file }) =>
    file === null || own !== resource ? [] : [{ resource, day, files: [file] }],
  )
}

/** Digest of the statements that make an entity, by its name; empty for what is no entity of a statement. */
export function makingOf(name: string): string {
  return BASE_ENTITIES.find((each) => each.name === name && each.resource !== null)?.maker() ?? ''
}
