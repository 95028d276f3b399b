import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { BodyError, BodyTooLargeError, TransportError } from '../../src/client/index.ts'
import type { AnswerOrigin, ServedRow } from '../../src/client/index.ts'
import { parseDay } from '../../src/lib/days.ts'
import { sendJson, type Handler } from '../support/helpers.ts'
import { failureOf, onServer } from './support.ts'

const RANGE = { first: parseDay('2026-03-01', 'first'), last: parseDay('2026-03-02', 'last') }
const META = { org_id: 'org-1', start_date: '2026-03-01', end_date: '2026-03-02' }
const ROWS = ['{"date":"2026-03-01","n":1.0}', '{"date":"2026-03-02","s":"é\\n]"}']
const BODY = `{"data":[${ROWS.join(' , ')}],"meta":${JSON.stringify(META)}}`

/** Keeps what it is handed on, and when it began. */
function taker(onRow: (row: ServedRow) => void = () => undefined) {
  const taken: (string | AnswerOrigin)[] = []
  return {
    taken,
    begin: (origin: AnswerOrigin) => void taken.push(origin),
    isWanted: (text: string) => !text.includes('unwanted'),
    row: (row: ServedRow) => {
      taken.push(row.text)
      onRow(row)
      return Promise.resolve()
    },
    known: {
      beginningOf: (text: string, at: number) =>
        text.includes('known') && text.startsWith('{"date":"', at) ? '{"date":"' : undefined,
      has: (text: string) => text.includes('known'),
      take: (text: string) => {
        taken.push(`known: ${text}`)
        onRow({ text, value: undefined })
        return Promise.resolve()
      },
    },
  }
}

const origin: unknown = expect.objectContaining({ requestId: null })

async function stream(handler: Handler, rows = taker()) {
  const { client, requests } = await onServer(handler, { timeoutMs: 300 })
  const answer = client.stream('tokens', { range: RANGE }, rows)
  return { answer, requests, taken: rows.taken }
}

it.each([
  ['plain', (body: Buffer) => body, {}],
  ['gzip', gzipSync, { 'content-encoding': 'gzip' }],
  ['deflate', deflateSync, { 'content-encoding': 'deflate' }],
  ['brotli', brotliCompressSync, { 'content-encoding': 'br' }],
])(
  'rows are handed on as served, and then what stands beside them: %s',
  async (_, pack, headers) => {
    const { answer, taken } = await stream((_, response) => {
      response.writeHead(200, { 'x-request-id': 'req-1', ...headers }).end(pack(Buffer.from(BODY)))
    })
    expect(await answer).toMatchObject({ orgId: 'org-1', requestId: 'req-1', hasMore: false })
    expect(taken).toEqual([expect.objectContaining({ requestId: 'req-1' }), ...ROWS])
  },
)

it('what is known is not even parsed, and told as known', async () => {
  const known = '{"date":"2026-03-01","known":tru}'
  const { answer, taken } = await stream((_, response) => {
    response.end(BODY.replace('[', `[${known}, ${known},`))
  })
  await answer
  expect(taken).toEqual([origin, `known: ${known}`, `known: ${known}`, ...ROWS])
})

it('what is not wanted is not even parsed', async () => {
  const { answer, taken } = await stream((_, response) => {
    response.end(BODY.replace('[', '[{"unwanted":tru},'))
  })
  await answer
  expect(taken).toEqual([origin, ...ROWS])
})

it('characters are whole, however the bytes come', async () => {
  const { answer, taken } = await stream((_, response) => {
    const bytes = Buffer.from(BODY)
    const writeFrom = (at: number): void => {
      if (at === bytes.length) response.end()
      else response.write(bytes.subarray(at, at + 1), () => void setImmediate(writeFrom, at + 1))
    }
    writeFrom(0)
  })
  await answer
  expect(taken).toEqual([origin, ...ROWS])
})

it('an answer that is cut off is asked for again, and what was taken of it is worth nothing', async () => {
  const { answer, taken } = await stream((request, response, count) => {
    if (count > 1) response.end(BODY)
    else response.write(BODY.slice(0, 40), () => request.socket.destroy())
  })
  await answer
  expect(taken).toEqual([origin, ROWS[0], origin, ...ROWS])
})

it.each([
  ['cut off between two rows', BODY.slice(0, BODY.indexOf(' , ')), /ends early/],
  ['of another range', BODY.replace('2026-03-02"}', '2026-03-03"}'), /'meta.end_date'/],
  ['with a row that is no JSON', BODY.replace('1.0', '1.'), /not valid JSON/],
  ['cut off in a character', Buffer.from(`${BODY}é`).subarray(0, -1), /no analytics answer/],
  ['that is no JSON', '<h1>Hello</h1>', /unexpected "<" at character 0/],
  ['that is empty', '', /ends early, after 0/],
])('an answer %s is no answer', async (_, body, reason) => {
  const { answer, requests } = await stream((_, response) => response.end(body))
  const failure = await failureOf(answer)
  expect(failure).toBeInstanceOf(BodyError)
  expect(String(failure)).toMatch(reason)
  expect(requests).toHaveLength(6)
})

it('what the taker throws is thrown, and nothing is asked for again', async () => {
  const refusal = new RangeError('no such day')
  const rows = taker(() => {
    throw refusal
  })
  const { answer, requests, taken } = await stream((_, response) => response.end(BODY), rows)
  expect(await failureOf(answer)).toBe(refusal)
  expect(taken).toHaveLength(2)
  expect(requests).toHaveLength(1)
})

it('what is no answer is not read to its end', async () => {
  const { answer } = await stream((_, response) => {
    const goOn = (): void => {
      if (response.destroyed) return
      response.write('x'.repeat(65_536), () => void setImmediate(goOn))
    }
    goOn()
  })
  expect(String(await failureOf(answer))).toMatch(/unexpected "x" at character 0/)
})

it('a body that never ends is not awaited longer than any', async () => {
  const { answer } = await stream((_, response) => void response.write('{"data":['))
  expect(await failureOf(answer)).toBeInstanceOf(TransportError)
})

it('a range may be as large as it must be, and a page of users not', async () => {
  const row = `{"date":"2026-03-01","user_id":"u","s":"${'x'.repeat(1024 * 1024)}"}`
  const body = `{"data":[${Array.from({ length: 9 }, () => row).join(',')}],"meta":{"has_more":false}}`
  const { client } = await onServer((_, response) => response.end(body))
  const rows = taker()
  await client.stream('tokens', { range: RANGE }, rows)
  expect(rows.taken).toHaveLength(10)
  const page = client.ask('users', { range: RANGE, limit: 100 })
  expect(await failureOf(page)).toBeInstanceOf(BodyTooLargeError)
})

it('an error is told as of any request', async () => {
  const { answer, requests } = await stream((_, response) => {
    sendJson(response, 400, { title: 'No', detail: 'too wide' })
  })
  expect(String(await failureOf(answer))).toContain('400 No: too wide')
  expect(requests).toHaveLength(1)
})
