import { readFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type Server, createServer } from 'node:https'
import {
  type AddressInfo,
  type Server as TcpServer,
  createServer as createTcpServer,
} from 'node:net'
import { gzipSync } from 'node:zlib'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { describeOn } from '#test/on-runtimes.ts'
import { Script } from '#test/runtimes.ts'

const FIXTURE = new URL('fixtures/egress.ts', import.meta.url)
const pem = (name: string) => readFile(new URL(`fixtures/tls/${name}`, import.meta.url), 'utf8')

const PUBLIC = ['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00::1']
const NOT_PUBLIC = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '192.0.0.8',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:8.8.8.8',
  '::ffff:127.0.0.1',
  '::7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd12::1',
  'fe80::1',
  'fe80::1%eth0',
  'ff02::1',
  'localhost',
  '127.1',
]

/** Raw answers, for what no server of good manners sends. */
const RAW: Record<string, string> = {
  '/cut': 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf',
  '/cut-chunk': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\nhalf',
  '/endless-header': `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(300_000)}\r\n\r\n`,
  '/two-lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc',
  '/no-http': 'hello there\r\n\r\n',
}

let secure: Server
let plain: ReturnType<typeof createHttpServer>
let raw: TcpServer
let ca: string
beforeAll(async () => {
  ca = await pem('ca.pem')
  secure = createServer({ key: await pem('api.key'), cert: await pem('api.pem') })
  secure.on('request', (request, response) => response.end(`secure ${request.headers.host}`))
  secure.on('tlsClientError', () => {})
  plain = createHttpServer((request, response) => {
    if (request.url === '/bomb') {
      response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(50_000_000)))
    } else if (request.url === '/gzip') {
      response.setHeader('content-encoding', 'gzip').end(gzipSync('unpacked'))
    } else if (request.url === '/redirect') {
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
    } else if (request.url === '/cookies') {
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.end()
    } else if (request.url !== '/silent') {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { method, headers, url } = request
        response.end(
          JSON.stringify({ method, headers, url, body: Buffer.concat(chunks).toString() }),
        )
      })
    }
  })
  raw = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (data) => socket.end(RAW[String(data).split(' ')[1] ?? ''] ?? ''))
  })
  for (const server of [secure, plain, raw]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  }
})
afterAll(() => {
  plain.closeAllConnections()
  for (const server of [secure, plain, raw]) server.close()
})

describeOn(['bun', 'node', 'deno'], 'egress on %s', (runtime) => {
  let script: Script
  beforeAll(() => {
    script = new Script(runtime, FIXTURE)
  })
  afterAll(() => script[Symbol.asyncDispose]())

  const ask = async (task: object) => {
    script.tell(JSON.stringify(task))
    return script.next()
  }
  const fetch = (server: TcpServer, path: string, change: Record<string, unknown> = {}) => {
    const {
      request,
      policy,
      scheme = 'http',
      host = 'api.test',
      ...rest
    } = change as {
      request?: object
      policy?: object
      scheme?: string
      host?: string
    }
    const { port } = server.address() as AddressInfo
    return ask({
      request: {
        method: 'GET',
        url: `${scheme}://${host}:${port}${path}`,
        headers: [],
        redirect: 'follow',
        ...request,
      },
      policy: { allow: ['*'], maxResponseBytes: 1_000_000, timeoutMs: 30_000, ...policy },
      resolved: ['127.0.0.1'],
      reachable: ['127.0.0.1'],
      ...rest,
    })
  }

  test('tells public addresses from all others', async () => {
    expect(await ask({ addresses: PUBLIC })).toEqual(PUBLIC.map(() => true))
    expect(await ask({ addresses: NOT_PUBLIC })).toEqual(NOT_PUBLIC.map(() => false))
  })

  test('sends what it is given, and Host, length and framing of its own', async () => {
    const answer = await fetch(plain, '/echo?q=%2F..%2F', {
      request: {
        method: 'PUT',
        headers: [
          ['X-Own', 'ü'],
          ['Host', 'evil.test'],
          ['Transfer-Encoding', 'chunked'],
        ],
        bodyBase64: Buffer.from('body').toString('base64'),
      },
    })
    const { port } = plain.address() as AddressInfo
    expect(JSON.parse(answer.text)).toMatchObject({
      method: 'PUT',
      url: '/echo?q=%2F..%2F',
      body: 'body',
      headers: { host: `api.test:${port}`, 'content-length': '4', 'x-own': 'ü' },
    })
  })

  test('unpacks, keeps two cookies apart, and bounds a bomb', async () => {
    expect(await fetch(plain, '/gzip')).toMatchObject({ status: 200, text: 'unpacked' })
    const { headers } = await fetch(plain, '/cookies')
    expect(headers.filter(([name]: string[]) => name === 'set-cookie')).toEqual([
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ])
    expect(await fetch(plain, '/bomb')).toEqual({ error: expect.stringContaining('longer than') })
  })

  test('ends at its time and with its call', async () => {
    const late = await fetch(plain, '/silent', { policy: { timeoutMs: 100 } })
    expect(late.error).toContain('100 ms')
    expect((await fetch(plain, '/silent', { abortAfterMs: 100 })).error).toContain('fetch:')
  })

  test('goes to no private address, by name or by redirect', async () => {
    expect((await fetch(plain, '/', { resolved: ['10.0.0.1'] })).error).toContain('public internet')
    expect((await fetch(plain, '/redirect')).error).toContain('public internet')
  })

  test('tries the next address when one does not answer', async () => {
    const answer = await fetch(plain, '/echo', {
      resolved: ['127.0.0.9', '127.0.0.1'],
      reachable: ['127.0.0.9', '127.0.0.1'],
    })
    expect(answer.status).toBe(200)
  })

  test('trusts a certificate for the name alone, though it connects to an address', async () => {
    expect(await fetch(secure, '/', { scheme: 'https', ca })).toMatchObject({
      status: 200,
      text: expect.stringContaining('secure api.test'),
    })
    for (const change of [{ host: 'other.test', ca }, { host: '127.0.0.1', ca }, {}]) {
      const answer = await fetch(secure, '/', { scheme: 'https', ...change })
      expect(answer).toEqual({ error: expect.stringContaining('fetch:') })
    }
  })

  test.each(Object.keys(RAW))('takes %s for no answer', async (path) => {
    expect(await fetch(raw, path)).toEqual({ error: expect.stringContaining('fetch:') })
  })
})
