import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DEMO_SECRETS } from '../../src/emulator/emulator.ts'
import { linesOf, stage } from './platform-stage.ts'

describe('controls', () => {
  it('list prints the newest revision first, with who changed what', async () => {
    const { run } = await stage()
    const { code, out } = await run(['controls', 'list', '--limit', '3'])
    expect(code).toBe(0)
    const [header, , first] = linesOf(out)
    expect(header).toMatch(/^revision \| updated_at +\| actor +\| changed$/)
    expect(first).toMatch(/^ +\d+ \| 2026-\d\d-\d\dT\S+ \| \S+@acme\.example +\| \w+/)
    expect(linesOf(out).at(-1)).toBe('(3 rows)')
  })

  it('list returns every revision, across pages', async () => {
    const { run } = await stage({ now: () => Date.parse('2026-08-10T05:00:00Z') })
    const { out } = await run(['controls', 'list', '--limit', '200', '--json'])
    const revisions = (JSON.parse(out) as { revision: number }[]).map(({ revision }) => revision)
    expect(revisions.length).toBeGreaterThan(25)
    expect(revisions).toEqual(Array.from(revisions, (_, index) => revisions.length - index))
  })

  it('show prints settings as paths and values', async () => {
    const { run } = await stage()
    const { code, out } = await run(['controls', 'show', 'latest'])
    expect(code).toBe(0)
    expect(out).toMatch(/^revision +\d+$/m)
    expect(out).toMatch(
      /^customModels\[custom:acme-coder\]\.apiKey +\| "\[redacted:[0-9a-f]{8}\]"$/m,
    )
    expect(out).toMatch(/^sandbox\.enabled +\| true$/m)
    const json = await run(['controls', 'show', '7', '--json'])
    expect(JSON.parse(json.out)).toMatchObject({ revision: 7, settings: {} })
  })

  it('diff prints what one revision changed, or what differs between two', async () => {
    const { run } = await stage()
    const one = await run(['controls', 'diff', '4', '--json'])
    expect(JSON.parse(one.out)).toMatchObject({ from_revision: 3, to_revision: 4 })
    const { code, out } = await run(['controls', 'diff', '3', '9'])
    expect(code).toBe(0)
    expect(out).toMatch(/^From revision 3 to revision 9/)
    // A set shows the added element, a value the old and the new one.
    expect(out).toMatch(/^modelPolicy\.allowedModelIds\[\] +\| NULL +\| "atlas-3-thinking"$/m)
    expect(out).toMatch(/^sessionRetentionDays +\| 30 +\| 90$/m)
    const same = await run(['controls', 'diff', '9', '9'])
    expect(linesOf(same.out).at(-1)).toBe('(0 rows)')
    const first = await run(['controls', 'diff', '1', '--json'])
    const { changes } = JSON.parse(first.out) as { changes: object[] }
    expect(changes.length).toBeGreaterThan(20)
    expect(changes.every((change) => !('old_value' in change))).toBe(true)
  })

  it('list and diff read a revision once that moved to the next page', async () => {
    const revisionWith = (revision: number) => ({
      revision,
      settings: { ideAutoConnect: revision },
    })
    const intercept = ({ query }: { readonly query: URLSearchParams }): Promise<Response> => {
      const isFirst = !query.has('cursor')
      const pagination = { hasMore: isFirst, nextCursor: isFirst ? 'a' : null }
      const changes = (isFirst ? [3, 2] : [2, 1]).map(revisionWith)
      return Promise.resolve(Response.json({ changes, pagination }))
    }
    const { run } = await stage({ intercept })
    const { out } = await run(['controls', 'list', '--json'])
    expect((JSON.parse(out) as { revision: number }[]).map(({ revision }) => revision)).toEqual([
      3, 2, 1,
    ])
    const diff = await run(['controls', 'diff', '2', '--json'])
    expect(JSON.parse(diff.out)).toMatchObject({ from_revision: 1, to_revision: 2 })
  })

  it('list, show and diff read every digit of a number', async () => {
    const revision = (number: number, days: string): string =>
      `{"revision":${number},"settings":{"sessionRetentionDays":${days}}}`
    const changes = [revision(2, '9007199254740993'), revision(1, '9007199254740992.0')]
    const answer = `{"changes":[${changes.join(',')}],"pagination":{"hasMore":false}}`
    const { run } = await stage({ intercept: () => Promise.resolve(new Response(answer)) })
    const listed = await run(['controls', 'list'])
    expect(listed.out).toMatch(/^ +2 .*\| sessionRetentionDays$/m)
    const shown = await run(['controls', 'show', '2'])
    expect(shown.out).toMatch(/^sessionRetentionDays +\| 9007199254740993$/m)
    const diff = await run(['controls', 'diff', '2'])
    expect(diff.out).toMatch(/^sessionRetentionDays +\| 9007199254740992 +\| 9007199254740993$/m)
    const { out } = await run(['controls', 'diff', '2', '--json'])
    expect(JSON.parse(out)).toMatchObject({ changes: [{ new_value: '9007199254740993' }] })
  })

  it('list, show and diff print no secret, and diff shows that one changed', async () => {
    const { run, data } = await stage()
    const results = await Promise.all(
      [
        ['list', '--limit', '200'],
        ['list', '--limit', '200', '--json'],
        ['show', 'latest'],
        ['show', 'latest', '--json'],
        ['diff', '1', 'latest'],
        ['diff', '1', 'latest', '--json'],
      ].map((args) => run(['controls', ...args])),
    )
    const all = results.map(({ out, err }) => out + err).join('')
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0])
    expect(DEMO_SECRETS.filter((secret) => all.includes(secret))).toEqual([])
    const { out } = await run(['controls', 'diff', '3'])
    expect(out).toMatch(/\.apiKey +\| "\[redacted:(\w{8})\]" +\| "\[redacted:(?!\1)\w{8}\]"/)
    expect(existsSync(data)).toBe(false)
  })

  it.each([
    ['an unknown revision', ['show', '999'], /have no revision 999$/],
    ['a diff to an unknown revision', ['diff', '2', '999'], /have no revision 999$/],
    ['a diff of an unknown revision', ['diff', '999'], /have no revision 999$/],
    [
      'a revision that is not a number',
      ['show', 'newest'],
      /the revision: 'newest' is not a whole number/,
    ],
    ['a limit of zero', ['list', '--limit', '0'], /--limit: '0' is not a whole number/],
    ['show without a revision', ['show'], /arguments: 0 given, at least 1 needed/],
    ['a missing subcommand', [], /Name a subcommand/],
    ['an unknown subcommand', ['shew'], /there is no command 'shew'$/],
  ])('%s exits with code 2 and an error message', async (_, args, message) => {
    const { run } = await stage()
    const { code, out, err } = await run(['controls', ...args])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)[0]).toMatch(message)
    expect(linesOf(err).length).toBeLessThanOrEqual(2)
  })

  it('an error about a revision says how to list the earlier ones', async () => {
    const { run } = await stage()
    const { err } = await run(['controls', 'show', '999'])
    expect(linesOf(err)[1]).toBe(
      '  agent-warehouse controls list shows the last revisions, and earlier ones with --limit.',
    )
  })
})
