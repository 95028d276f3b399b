// The baseline of a full refresh: one DuckDB script writes the same tables from base. Arguments: data folder, database file.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Database, literal } from '../dist/lib/duckdb.js'
import { fill } from '../dist/lib/package.js'
import { benchFolder } from './lib.mjs'

const [dataFolder, file] = process.argv.slice(2)
const sql = await readFile(join(benchFolder, 'sql', 'by_hand.sql'), 'utf8')
const database = await Database.open(file)
await database.run(fill(sql, { base: literal(join(dataFolder, 'lake', 'base')) }))
database.close()
