import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { command } from '../support/command.ts'
import { sendJson, temporaryFolder, testServer, type Handler } from '../support/helpers.ts'

const EMPTY = { data: [], meta: { org_id: 'org-1' } }
const PAGE = Buffer.from(`<html>${'<p>maintenance</p>'.repeat(70_000)}</html>`)
const DAY = ['--only', 'tokens', '--from', '2026-02-01', '--to', '2026-02-01', '--log', 'none']

async function sync(handler: Handler, args: readonly string[] = DAY) {
  const { url, requests } = await testServer(handler)
  const outcome = await command(['sync', ...args], {
    AGENT_BASE_URL: url,
    AGENT_API_KEY: 'key',
    AGENT_WAREHOUSE_DATA: await temporaryFolder(),
  })
  return { ...outcome, requests }
}

describe('law 13: a hostile body', () => {
  const write =
    (encoding: string, body: Uint8Array, isOver = false): Handler =>
    (_, response) => {
      response.writeHead(200, { 'content-encoding': encoding })
      if (isOver) response.end(body)
      else response.write(body)
    }
  const hostile: readonly [string, Handler][] = [
    ['1.2 MB of HTML in gzip', write('gzip', gzipSync(PAGE), true)],
    ['1.2 MB of HTML in gzip on a connection that stays open', write('gzip', gzipSync(PAGE))],
    ['a broken gzip', write('gzip', Buffer.concat([gzipSync(PAGE).subarray(0, 40), PAGE]))],
    ['zstd', write('zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0]))],
    ['256 MB in 260 kB', write('gzip', gzipSync(Buffer.alloc(256 * 1024 * 1024, 'a')))],
  ]

  it.each(hostile)('does not keep the process from ending: %s', async (_, handler) => {
    const { code, err, requests } = await sync((request, response, count) => {
      if (count === 2) handler(request, response, count)
      else sendJson(response, 200, EMPTY)
    })
    expect(requests).toHaveLength(3)
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  it('in every response, or in every one but the first, ends the sync with exit code 3', async () => {
    const zstd = write('zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0]))
    const [first, later] = await Promise.all([
      sync(zstd),
      sync((request, response, count) => {
        if (count > 1) zstd(request, response, count)
        else sendJson(response, 200, EMPTY)
      }),
    ])
    expect([first.code, later.code]).toEqual([3, 3])
    expect(first.err).toContain("unknown content-encoding 'zstd'")
  })
})

describe('a request that drips beyond --max-duration', () => {
  const drip =
    (begin: Handler, byte: string): Handler =>
    (request, response, count) => {
      begin(request, response, count)
      const timer = setInterval(() => request.socket.write(byte), 50)
      onTestFinished(() => {
        clearInterval(timer)
      })
    }
  const json = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
  const raw = (text: string) =>
    drip((request) => {
      request.socket.write(text, 'latin1')
    }, ' ')
  // a name, which does not end: other bytes would be no gzip, and be retried before the time limit
  const named = '\x1f\x8b\x08\x08\0\0\0\0\0\x03'
  it.each([
    ['a body', raw(`${json}\r\n{"data":[`)],
    ['a compressed body', raw(`${json}content-encoding: gzip\r\n\r\n${named}`)],
    ['headers', raw(`${json}x-slow: `)],
  ])('is aborted, and the run ends with exit code 4: %s', async (_, handler) => {
    const args = ['--max-duration', '3s', ...DAY]
    const { code, err } = await sync((request, response, count) => {
      if (count > 1) handler(request, response, count)
      else sendJson(response, 200, EMPTY)
    }, args)
    expect({ code, err }).toMatchObject({ code: 4 })
    expect(err).toContain('the time limit was reached')
    expect(err).toContain('  What has landed is kept; the next run continues from there.')
  })
})
