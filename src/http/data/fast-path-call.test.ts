import { expect, test, vi } from 'vitest'

import { AppError } from '#base/app-error.ts'
import { randomIds } from '#base/ids.ts'
import { RequestScopes } from '#http/request-scope.ts'

import { FastPathCall, type IncomingCall } from './fast-path-call.ts'

const scopes = new RequestScopes([], randomIds)

/** A call with that body, whose operation never ends. */
function opened(body: string | ReadableStream) {
  const begin = vi.fn<IncomingCall['operationCalls']['begin']>()
  const peer = { address: '203.0.113.7', hold: vi.fn<() => void>() }
  const request = new Request('http://one.test/data/run', { method: 'POST', body, duplex: 'half' })
  const scope = scopes.open(request, peer)
  const site = {
    siteId: 'site_1',
    domain: 'one.test',
    adminDomain: null,
    authDomain: null,
    formerAuthDomains: [],
    region: 'eu-central-1',
    corsOrigins: [],
    consoleHost: undefined,
    host: 'one.test',
  }
  const call = new FastPathCall(
    { request, scope, peer, cors: undefined },
    { site, operation: 'run', authority: null, operationCalls: { begin } },
    {
      toResponse: ({ body: text }) => new Response(text),
      toErrorResponse: (error) => Response.json(error instanceof AppError && error.code),
    },
  )
  const open = new Set<FastPathCall>()
  const response = call.read(open)
  const look = (seconds: number) => call.look(scope.startedAt + seconds * 1000)
  return { begin, peer, call, open, response, look }
}

test('a body that does not arrive is answered after 20 seconds, and runs nothing when it comes', async () => {
  let end = (): void => {}
  const { begin, open, response, look } = opened(
    new ReadableStream({
      start(controller) {
        end = () => controller.close()
      },
    }),
  )
  look(19)
  expect(open.size).toBe(1)
  look(21)
  expect(await (await response).json()).toBe('RequestTimeout')
  expect(open.size).toBe(0)
  end()
  await new Promise((resolve) => setImmediate(resolve))
  expect(begin).not.toHaveBeenCalled()
})

test('a body that is not UTF-8 runs nothing', async () => {
  const { begin, open, response } = opened(
    new Blob([Buffer.from('{"payload":"\xff"}', 'latin1')]).stream(),
  )
  expect(await (await response).json()).toBe('InvalidJson')
  expect(open.size).toBe(0)
  expect(begin).not.toHaveBeenCalled()
})

test('a call that takes long tells the server once, and is answered whenever it ends', async () => {
  const { begin, peer, call, open, response, look } = opened('{}')
  await vi.waitFor(() => expect(begin).toHaveBeenCalledOnce())
  look(4)
  expect(peer.hold).not.toHaveBeenCalled()
  look(6)
  look(3600)
  expect(peer.hold).toHaveBeenCalledOnce()
  call.answered({ body: 'late', cache: undefined })
  expect(await (await response).text()).toBe('late')
  expect(open.size).toBe(0)
})
