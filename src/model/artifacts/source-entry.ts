import { sourceId, type JsonObject } from './ids.ts'
import type { EntryContext } from './entry-context.ts'

/** Every table of every source, by its id. */
export function sourceEntries({
  project,
  database,
  sourceSql,
  createdAt,
}: EntryContext): Record<string, JsonObject> {
  const entries = project.sources.flatMap((source) => {
    const { file } = source.place
    const folders = file.split('/').slice(1, -1)
    return source.tables.map((table): [string, JsonObject] => {
      const id = sourceId(project.name, `${source.name}.${table}`)
      const entry = {
        database,
        schema: source.name,
        name: table,
        resource_type: 'source',
        package_name: project.name,
        path: file,
        original_file_path: file,
        unique_id: id,
        fqn: [project.name, ...folders, source.name, table],
        source_name: source.name,
        source_description: source.description,
        loader: '',
        identifier: table,
        quoting: { database: null, schema: null, identifier: null, column: null },
        loaded_at_field: null,
        freshness: null,
        external: null,
        description: source.descriptions[table] ?? '',
        columns: {},
        meta: {},
        source_meta: {},
        tags: [],
        config: { enabled: true },
        patch_path: null,
        unrendered_config: {},
        relation_name: sourceSql(source.name, table),
        created_at: createdAt,
      }
      return [id, entry]
    })
  })
  return Object.fromEntries(entries)
}
