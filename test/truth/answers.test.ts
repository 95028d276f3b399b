import { expect, test } from 'vitest'
import { testServer } from '../support/helpers.ts'
import { fetchEverything } from './answers.ts'

type Answer = readonly [status: number, body: string, headers?: Record<string, string>]

/** A platform that answers with `answer`; returns its address. */
async function platform(answer: (url: URL, authorization: string) => Answer): Promise<string> {
  const server = await testServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://platform')
    const [status, body, headers] = answer(url, request.headers.authorization ?? '')
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  })
  return server.url
}

function envelope(rows: string, meta = ''): string {
  return `{"data":[${rows}],"meta":{"org_id":"org-1"${meta}}}`
}

function optionsFor(baseUrl: string): Parameters<typeof fetchEverything>[0] {
  return { baseUrl, key: 'k-1', first: '2026-02-01', last: '2026-02-03' }
}

test('requests each day endpoint once, and /users day by day to the last page', async () => {
  const asked: string[] = []
  const baseUrl = await platform((url, authorization) => {
    asked.push(`${url.pathname.replace('/api/v1/analytics', '')}${url.search} ${authorization}`)
    if (!url.pathname.endsWith('/users')) return [200, envelope('{"big":9007199254740993}')]
    const day = url.searchParams.get('startDate') ?? ''
    return url.searchParams.get('cursor') === null
      ? [200, envelope(`{"date":"${day}","user_id":"a"}`, ',"has_more":true,"next_cursor":"a"')]
      : [200, envelope(`{"date":"${day}","user_id":"b"}`, ',"has_more":false,"next_cursor":null')]
  })
  const answers = await fetchEverything(optionsFor(baseUrl))
  expect(answers.orgId).toBe('org-1')
  expect(answers.tokens).toEqual([new Map([['big', 9007199254740993n]])])
  expect(answers.users.map((row) => [row.get('date'), row.get('user_id')])).toEqual([
    ['2026-02-01', 'a'],
    ['2026-02-01', 'b'],
    ['2026-02-02', 'a'],
    ['2026-02-02', 'b'],
    ['2026-02-03', 'a'],
    ['2026-02-03', 'b'],
  ])
  const wide = 'startDate=2026-02-01&endDate=2026-02-03'
  expect(asked.filter((line) => !line.startsWith('/users'))).toEqual([
    `/tokens?${wide} Bearer k-1`,
    `/tools?${wide} Bearer k-1`,
    `/activity?${wide} Bearer k-1`,
    `/productivity?${wide} Bearer k-1`,
    `/tokens?${wide}&group_by=model Bearer k-1`,
    `/tools?${wide}&group_by=tool_name Bearer k-1`,
    `/activity?${wide}&group_by=client Bearer k-1`,
  ])
  const second = 'startDate=2026-02-02&endDate=2026-02-02'
  expect(asked.filter((line) => line.includes(second))).toEqual([
    `/users?${second}&limit=100 Bearer k-1`,
    `/users?${second}&limit=100&cursor=a Bearer k-1`,
  ])
})

test('requests again when throttled, and in halves if the window is too wide', async () => {
  let throttled = 0
  const baseUrl = await platform((url) => {
    const days = [url.searchParams.get('startDate'), url.searchParams.get('endDate')]
    if (days[0] !== days[1]) return [400, '{"detail":"too wide"}']
    if (throttled++ < 1) return [429, '{}', { 'retry-after': '0' }]
    return [200, envelope(`{"date":"${String(days[0])}"}`)]
  })
  const answers = await fetchEverything(optionsFor(baseUrl))
  expect(answers.tokens.map((row) => row.get('date'))).toEqual([
    '2026-02-01',
    '2026-02-02',
    '2026-02-03',
  ])
})

test('reports what was refused', async () => {
  const baseUrl = await platform(() => [403, '{"detail":"members may not"}'])
  await expect(fetchEverything(optionsFor(baseUrl))).rejects.toThrow(
    '/api/v1/analytics/tokens?startDate=2026-02-01&endDate=2026-02-03 answered 403: {"detail":"members may not"}',
  )
})

test('stops when a cursor repeats', async () => {
  const baseUrl = await platform(() => [200, envelope('', ',"has_more":true,"next_cursor":"a"')])
  await expect(fetchEverything(optionsFor(baseUrl))).rejects.toThrow("cursor 'a' leads nowhere")
})
