import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import {
  BodyError,
  BodyTooLargeError,
  TransportError,
  type ResponseOrigin,
  type ServedRow,
} from '../../src/client/index.ts'
import { parseDay } from '../../src/lib/days.ts'
import { sendJson, type Handler } from '../support/helpers.ts'
import { failureOf, onServer } from './support.ts'

const RANGE = { first: parseDay('2026-03-01', 'first'), last: parseDay('2026-03-02', 'last') }
const META = { org_id: 'org-1', start_date: '2026-03-01', end_date: '2026-03-02' }
const ROWS = ['{"date":"2026-03-01","n":1.0}', '{"date":"2026-03-02","s":"é\\n]"}']
const BODY = `{"data":[${ROWS.join(' , ')}],"meta":${JSON.stringify(META)}}`

/** Records the rows that it is given, and where a response began. */
function taker(onRow: (row: ServedRow) => void = () => undefined) {
  const taken: (string | ResponseOrigin)[] = []
  return {
    taken,
    begin: (origin: ResponseOrigin) => void taken.push(origin),
    isWanted: (text: string) => !text.includes('unwanted'),
    row: (row: ServedRow) => {
      taken.push(row.text)
      onRow(row)
      return Promise.resolve()
    },
  }
}

const origin: unknown = expect.objectContaining({ requestId: null })

async function stream(handler: Handler, rows = taker(), timeoutMs = 10_000) {
  const { client, requests } = await onServer(handler, { timeoutMs })
  const answer = client.stream('tokens', { range: RANGE }, rows)
  return { answer, requests, taken: rows.taken }
}

it.each([
  ['plain', (body: Buffer) => body, {}],
  ['gzip', gzipSync, { 'content-encoding': 'gzip' }],
  ['deflate', deflateSync, { 'content-encoding': 'deflate' }],
  ['brotli', brotliCompressSync, { 'content-encoding': 'br' }],
])('law 1: rows are streamed as served, and then the metadata: %s', async (_, pack, headers) => {
  const { answer, taken } = await stream((_, response) => {
    response.writeHead(200, { 'x-request-id': 'req-1', ...headers }).end(pack(Buffer.from(BODY)))
  })
  expect(await answer).toMatchObject({ orgId: 'org-1', requestId: 'req-1', hasMore: false })
  expect(taken).toEqual([expect.objectContaining({ requestId: 'req-1' }), ...ROWS])
})

it('what is not wanted is not even parsed', async () => {
  const { answer, taken } = await stream((_, response) => {
    response.end(BODY.replace('[', '[{"unwanted":tru},'))
  })
  await answer
  expect(taken).toEqual([origin, ...ROWS])
})

it('characters are complete when the bytes arrive one by one', async () => {
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

it('a truncated response is requested again, and the rows start again from the first', async () => {
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
  ['with a row that is not JSON', BODY.replace('1.0', '1.'), /not valid JSON/],
  ['cut off in a character', Buffer.from(`${BODY}é`).subarray(0, -1), /no analytics response/],
  ['that is not JSON', '<h1>Hello</h1>', /unexpected "<" at character 0/],
  ['that is empty', '', /ends early, after 0/],
])('a response %s is refused after six attempts', async (_, body, reason) => {
  const { answer, requests } = await stream((_, response) => response.end(body))
  const failure = await failureOf(answer)
  expect(failure).toBeInstanceOf(BodyError)
  expect(String(failure)).toMatch(reason)
  expect(requests).toHaveLength(6)
})

it('an error of the row handler is thrown, and the request is not repeated', async () => {
  const refusal = new RangeError('no such day')
  const rows = taker(() => {
    throw refusal
  })
  const { answer, requests, taken } = await stream((_, response) => response.end(BODY), rows)
  expect(await failureOf(answer)).toBe(refusal)
  expect(taken).toHaveLength(2)
  expect(requests).toHaveLength(1)
})

it('an invalid response is not read to its end', async () => {
  const { answer } = await stream((_, response) => {
    const goOn = (): void => {
      if (response.destroyed) return
      response.write('x'.repeat(65_536), () => void setImmediate(goOn))
    }
    goOn()
  })
  expect(String(await failureOf(answer))).toMatch(/unexpected "x" at character 0/)
})

it('a body that never ends times out', async () => {
  const begin: Handler = (_, response) => void response.write('{"data":[')
  const { answer } = await stream(begin, taker(), 300)
  expect(await failureOf(answer)).toBeInstanceOf(TransportError)
})

it('the size limit of a response applies to a page of users, and not to a streamed range', async () => {
  const row = `{"date":"2026-03-01","user_id":"u","s":"${'x'.repeat(1024 * 1024)}"}`
  const body = `{"data":[${Array.from({ length: 9 }, () => row).join(',')}],"meta":{"has_more":false}}`
  const { client } = await onServer((_, response) => response.end(body))
  const rows = taker()
  await client.stream('tokens', { range: RANGE }, rows)
  expect(rows.taken).toHaveLength(10)
  const page = client.ask('users', { range: RANGE, limit: 100 })
  expect(await failureOf(page)).toBeInstanceOf(BodyTooLargeError)
})

it('an error response fails at once with the status and the message of the platform', async () => {
  const { answer, requests } = await stream((_, response) => {
    sendJson(response, 400, { title: 'No', detail: 'too wide' })
  })
  expect(String(await failureOf(answer))).toContain('400 No: too wide')
  expect(requests).toHaveLength(1)
})
