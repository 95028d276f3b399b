import { statement } from '../lib/package.ts'
import { RAW, type DaySource } from './batch.ts'
import { SCHEMA_DRIFT } from './drift.ts'
import { ENTITIES, type Entity } from './entities.ts'
import { MACROS, parsedSql } from './macros.ts'
import type { BaseEntity, NormalizeOptions } from './plan.ts'
import { RESTATEMENTS } from './restatements.ts'

/** Every table that is made from raw, in the order in which they are made of a batch. */
export const BASE_ENTITIES: readonly BaseEntity[] = [
  ...ENTITIES.map(flattened),
  RESTATEMENTS,
  SCHEMA_DRIFT,
]

/** An entity that one statement makes of the parsed items of its resource. */
function flattened({ name, resource }: Entity): BaseEntity {
  const select = (): string => statement(`base/${name}`)
  return {
    name,
    resource,
    isOfParsed: true,
    madeBy: `sql/base/${name}.sql`,
    statements: () => [MACROS, RAW, parsedSql(resource), select()].join('\n'),
    sources: (options) => currentVersions(options, resource),
    select,
  }
}

function currentVersions({ ledger }: NormalizeOptions, resource: string): DaySource[] {
  return [...ledger.values()].flatMap(({ resource: own, day, file }) =>
    file === null || own !== resource ? [] : [{ resource, day, files: [file] }],
  )
}

/** The statements that make an entity, by its name; empty for what is no entity of a statement. */
export function makingOf(name: string): string {
  const entity = ENTITIES.find((each) => each.name === name)
  return entity === undefined ? '' : flattened(entity).statements()
}
