import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createServer as createProxy, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHttp } from '../../src/client/http/node-world.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { command } from '../support/command.ts'
import { listening, sendJson, temporaryFolder, testServer } from '../support/helpers.ts'

const KEY = 'key-that-no-proxy-sees'
const PASSWORD = 'pass:w@rd'
/** A self-signed certificate of platform.test, with its key. */
const PEM = join(packageRoot, 'test', 'support', 'platform-test.pem')
const DAY = ['--only', 'tokens', '--from', '2026-02-01', '--to', '2026-02-01']

const EMPTY = { data: [], meta: { org_id: 'org-1' } }

/** A platform on https, and a proxy that connects every name to it and records what it sees. */
async function stage(status = 200) {
  const pem = readFileSync(PEM)
  const asked: string[] = []
  const platform = createTlsServer({ key: pem, cert: pem }, (request, response) => {
    asked.push(request.headers.authorization ?? '')
    sendJson(response, 200, EMPTY)
  })
  const port = await listening(platform)
  const seen = { heads: [] as string[], bytes: '' }
  const headOf = ({ method, url, headers }: IncomingMessage): string =>
    [method, url, headers['proxy-authorization'], headers.authorization].join(' ')
  const proxy = createProxy((request, response) => {
    seen.heads.push(headOf(request))
    response.writeHead(500).end()
  })
  proxy.on('connect', (request: IncomingMessage, socket: Socket) => {
    seen.heads.push(headOf(request))
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
      return
    }
    const tunnel = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.on('data', (bytes) => (seen.bytes += bytes.toString('latin1')))
      socket.pipe(tunnel).pipe(socket)
    })
    tunnel.on('error', () => socket.destroy())
  })
  const user = `user:${encodeURIComponent(PASSWORD)}`
  return { asked, seen, proxy: `http://${user}@127.0.0.1:${await listening(proxy)}` }
}

async function sync(environment: Record<string, string>) {
  const data = await temporaryFolder()
  const outcome = await command(['sync', ...DAY, '--log', 'json', '--debug'], {
    AGENT_BASE_URL: 'https://platform.test',
    AGENT_API_KEY: KEY,
    AGENT_WAREHOUSE_DATA: data,
    NODE_EXTRA_CA_CERTS: PEM,
    ...environment,
  })
  const entries = await readdir(data, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const texts = files.map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1'))
  return { ...outcome, all: outcome.out + outcome.err + (await Promise.all(texts)).join('') }
}

const REQUEST = {
  method: 'GET',
  url: 'https://platform.test/',
  headers: {},
  timeoutMs: 60_000,
  maxBytes: 1000,
  signal: new AbortController().signal,
} as const

const secrets = [KEY, PASSWORD, encodeURIComponent(PASSWORD), btoa(`user:${PASSWORD}`)]
const found = (text: string): string[] => secrets.filter((secret) => text.includes(secret))

describe('HTTPS_PROXY', () => {
  it.each(['HTTPS_PROXY', 'https_proxy'])(
    'is used as a tunnel: the proxy does not see the API key, and its password is in no output (%s)',
    async (name) => {
      const { asked, seen, proxy } = await stage()
      const { code, err, all } = await sync({ [name]: proxy })
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
      expect(new Set(asked)).toEqual(new Set([`Bearer ${KEY}`]))
      const login = `Basic ${btoa(`user:${PASSWORD}`)}`
      expect(new Set(seen.heads)).toEqual(new Set([`CONNECT platform.test:443 ${login} `]))
      expect(seen.bytes.length).toBeGreaterThan(0)
      expect(found(seen.bytes)).toEqual([])
      expect(found(all)).toEqual([])
    },
  )

  it('is not used for hosts that NO_PROXY lists', async () => {
    const lists = ['platform.test', '*', 'elsewhere.test, .platform.test']
    const asked = lists.map(async (list) => {
      const { seen, proxy } = await stage()
      const { code, all } = await sync({ HTTPS_PROXY: proxy, NO_PROXY: list })
      return { list, code, heads: seen.heads, found: found(all) }
    })
    expect(await Promise.all(asked)).toEqual(
      lists.map((list) => ({ list, code: 3, heads: [], found: [] })),
    )
  })

  it('is not used for plain http, which is accepted for loopback addresses only', async () => {
    const { seen, proxy } = await stage()
    const { url } = await testServer((_, response) => {
      sendJson(response, 200, EMPTY)
    })
    const { code, err } = await sync({ AGENT_BASE_URL: url, HTTPS_PROXY: proxy, HTTP_PROXY: proxy })
    expect({ code, err }).toMatchObject({ code: 0 })
    expect(seen.heads).toEqual([])
    const elsewhere = await sync({ AGENT_BASE_URL: 'http://platform.test', HTTPS_PROXY: proxy })
    expect(elsewhere.code).toBe(2)
    expect(elsewhere.err).toContain('is not https')
  })

  it('ends the sync with exit code 3 when the proxy refuses, and its password is in no output', async () => {
    const { asked, proxy } = await stage(407)
    const { code, all } = await sync({ HTTPS_PROXY: proxy })
    expect(code).toBe(3)
    expect(asked).toEqual([])
    expect(found(all)).toEqual([])
  })

  it('sends a user without a password', async () => {
    const { seen, proxy } = await stage()
    const { code } = await sync({ HTTPS_PROXY: proxy.replace(/user:.*@/, 'token@') })
    expect(code).toBe(0)
    expect(seen.heads[0]).toBe(`CONNECT platform.test:443 Basic ${btoa('token:')} `)
  })

  it('fails a request when the proxy closes the connection without a response', async () => {
    const proxy = createTcpServer((socket) => socket.once('data', () => socket.end()))
    const httpsProxy = `http://127.0.0.1:${await listening(proxy)}`
    const { fetch, close } = createHttp({ httpsProxy, noProxy: '' })
    onTestFinished(close)
    await expect(fetch(REQUEST)).rejects.toThrow('no tunnel through the proxy: other side closed')
  })

  it.each([
    'ftp://user:secret@proxy',
    'http://user:secret@[',
    'socks5://user:secret@proxy:1',
    'http://user:secret%@proxy',
    'http://user%:41secret@proxy',
  ])(
    'ends the sync with exit code 2 when it is not the address of a proxy, without its password: %s',
    async (proxy) => {
      const { code, err, all } = await sync({ HTTPS_PROXY: proxy })
      expect(code).toBe(2)
      expect(err).toContain('HTTPS_PROXY is not the address of a proxy')
      expect(all).not.toContain('secret')
    },
  )

  it.each(['build', 'build --plan', 'rollback', 'compact', 'rebuild', 'export csv'])(
    'does not matter to a command that requests nothing: %s',
    async (line) => {
      const args = [...line.split(' '), '--data', await temporaryFolder()]
      const { err } = await command(args, { HTTPS_PROXY: 'socks5://proxy:1' })
      expect(err).not.toContain('HTTPS_PROXY')
    },
  )
})

it('a certificate of an unknown authority is an error that names NODE_EXTRA_CA_CERTS', async () => {
  const pem = readFileSync(PEM)
  const port = await listening(createTlsServer({ key: pem, cert: pem }))
  const { fetch, close } = createHttp()
  onTestFinished(close)
  const request = { ...REQUEST, url: `https://127.0.0.1:${port}/` }
  // some versions of Node.js add a hint of their own
  const message =
    /self-signed certificate\b.*; to trust your own authority, set NODE_EXTRA_CA_CERTS$/
  await expect(fetch(request)).rejects.toThrow(message)
})

describe('NODE_TLS_REJECT_UNAUTHORIZED=0', () => {
  it.each([['sync', ...DAY], ['run'], ['doctor'], ['verify'], ['limits', 'list']])(
    'is refused with exit code 2 and one line before any request: %s',
    async (...args) => {
      const { url, requests } = await testServer((_, response) => {
        sendJson(response, 200, EMPTY)
      })
      const { code, out, err } = await command(args, {
        AGENT_BASE_URL: url,
        AGENT_API_KEY: KEY,
        AGENT_WAREHOUSE_DATA: await temporaryFolder(),
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
      })
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err).toMatch(/^agent-warehouse: NODE_TLS_REJECT_UNAUTHORIZED=0 .*\n$/)
      expect(requests).toEqual([])
    },
  )
})
