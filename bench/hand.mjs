// The baseline of `build`: one DuckDB pass over the raw files of one resource into one typed table. Arguments: data folder, database file.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Database, literal } from '../dist/lib/duckdb.js'
import { fill } from '../dist/lib/package.js'
import { benchFolder } from './lib.mjs'

const [dataFolder, file] = process.argv.slice(2)
const files = join(dataFolder, 'lake', 'raw', 'users', '**', '*.parquet')
const sql = await readFile(join(benchFolder, 'sql', 'hand.sql'), 'utf8')
const database = await Database.open(file)
await database.run(fill(sql, { files: literal(files) }))
database.close()
