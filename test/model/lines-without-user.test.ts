import { describe, expect, it } from 'vitest'
import { Database } from '../../src/lib/duckdb.ts'
import { fill, statement } from '../../src/lib/package.ts'

/** Runs the statement, or its EXPLAIN, for lines of `teams.csv` and three users. */
async function ask(lines: string, before = ''): Promise<unknown[][]> {
  await using database = await Database.open(':memory:')
  await database.run(`create table main.dim_user_history as
    from (values ('org_1', 'u1', 'Ann@X.example'), ('org_1', 'u1', 'ann@y.example'),
      ('org_2', 'u2', null)) as users (org_id, user_id, user_email)`)
  const texts = `(select * from (values ${lines}) as lines (csv_line, org_id, "user"))`
  const sql = fill(statement('seeds/lines_without_user'), { texts })
  const { rows } = await database.table(before + sql)
  return rows.map((row) => [...row])
}

describe('the lines of teams.csv without a user', () => {
  it.each([
    ['an id', "'u1'", 'null', true],
    ['an id in other letters', "'U1'", 'null', false],
    ['an address in other letters', "'ann@x.EXAMPLE'", 'null', true],
    ['an earlier address', "'ann@y.example'", 'null', true],
    ['an id of the named organisation', "'u2'", "'org_2'", true],
    ['an id of another organisation', "'u2'", "'org_1'", false],
    ['nobody', "'u3'", 'null', false],
  ])('leave out a line with %s if it is known: %s in %s', async (_, user, org, isKnown) => {
    const records = await ask(`(1, ${org}, ${user}), (2, null, 'unknown')`)
    expect(records.flat()).toEqual(isKnown ? [2] : [1, 2])
  })

  it('are found without comparing every line with every user', async () => {
    const plan = String(await ask("(1, null, 'u1')", 'explain '))
    expect(plan).toContain('HASH_JOIN')
    expect(plan).not.toMatch(/NL_JOIN|NESTED_LOOP|CROSS_PRODUCT/)
  })
})
