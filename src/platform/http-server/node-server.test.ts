import { channel } from 'node:diagnostics_channel'
import type { Server } from 'node:net'

import { expect, test } from 'vitest'

import { serveOnNode } from './node-server.ts'

const LISTENING = channel('tracing:net.server.listen:asyncEnd')

test('a server on Node reports every error of its socket, and serves on', async () => {
  const errors: unknown[] = []
  const servers: Server[] = []
  const seen = (message: unknown) => servers.push((message as { server: Server }).server)
  LISTENING.subscribe(seen)
  const http = await serveOnNode({
    fetch: () => new Response('served'),
    hostname: '127.0.0.1',
    port: 0,
    idleTimeoutSeconds: 5,
    onError: (error) => errors.push(error),
  })
  LISTENING.unsubscribe(seen)
  const faults = [new Error('accept EMFILE'), new Error('accept ENFILE')]
  for (const fault of faults) servers.at(-1)?.emit('error', fault)
  expect(errors).toEqual(faults)
  expect(await (await fetch(`http://127.0.0.1:${http.port}/`)).text()).toBe('served')
  await http.drain(1000)
})
