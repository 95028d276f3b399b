import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { digest, html } from '../../../src/serve/report/report.ts'
import { unpack } from '../../../src/serve/report/page/rows.ts'
import { organisation, report } from './sample.ts'

const HOSTILE =
  '</script><script>alert(1)</script><!-- [x](http://example.com) www.example.com `|*_ "\' \u2028'

function hostile() {
  const tools = [
    { kind: 'server', days: 28, name: HOSTILE, invocations: 9, share: 1, names: 1 } as const,
  ]
  return report([{ ...organisation({ tools }), org_id: HOSTILE }])
}

it('law 11: served text never closes an element of the report', () => {
  const text = html(hostile())
  expect(text.match(/<script/g)).toHaveLength(2)
  expect(text.match(/<\/script>/g)).toHaveLength(2)
  expect(text).not.toContain('alert(1)</')
})

it('the page reads the rows that were embedded in it', () => {
  const data = hostile()
  const [, packed = ''] = /type="application\/json">(.*?)<\/script>/s.exec(html(data)) ?? []
  expect(unpack(packed)).toEqual(data)
})

it('the policy of the report allows its own script and no request', () => {
  const text = html(report([]))
  const [, script = ''] = /<script>(.*)<\/script>\n<\/body>/s.exec(text) ?? []
  const sha256 = createHash('sha256').update(script).digest('base64')
  expect(text).toContain(`default-src 'none'`)
  expect(text).toContain(`script-src 'sha256-${sha256}'`)
  expect(text).not.toMatch(/(src|href)="?https?:/)
})

it('law 11: served text is never Markdown, HTML or a link in the digest', () => {
  const text = digest(hostile())
  expect(text).not.toMatch(/<script|<!--/)
  expect(text).not.toMatch(/(?<!\\)\[x\]/)
  expect(text).not.toMatch(/:\/\/|www\./)
  expect(text).toContain('om) www&#46;example.com')
  expect(text).not.toContain(String.raw`&\#`)
})

it('a finding that begins with a share near all is no quotation in the digest', () => {
  const cache_weeks = [{ week: '2026-03-23', share: 0.9996 }]
  const text = digest(report([organisation({ cache_weeks })]))
  expect(text).toContain('- &gt;99.9% of input tokens')
})

it('one blank line stands between the parts of the digest', () => {
  const weeks = [{ week: '2026-03-23', share: 0.5, ratio: 2, p50: null, p90: null }]
  const text = digest(report([organisation({ cache_weeks: weeks, autonomy_weeks: weeks })]))
  expect(text).toContain('last whole week\n\n**Practice**\n\n- ')
})

it('a warehouse without organisations has a page and a digest', () => {
  expect(html(report([]))).toContain('<main id="report">')
  expect(digest(report([]))).toBe('# Agent usage\n')
})
