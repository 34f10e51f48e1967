import { channel } from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { HostSocketServer } from './host-socket-server.ts'

const LISTENING = channel('tracing:net.server.listen:asyncEnd')

describe('the socket that hosts connect to', () => {
  let directory: string
  let path: string
  const errors: Error[] = []
  const open = () =>
    new HostSocketServer(
      () => undefined,
      (error) => errors.push(error),
    )

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'croft-'))
    path = join(directory, 'socket')
    errors.length = 0
  })
  afterEach(() => rm(directory, { recursive: true }))

  test('reports every error while it listens, and listens on', async () => {
    const connections = open()
    const servers: Server[] = []
    const seen = (message: unknown) => servers.push((message as { server: Server }).server)
    LISTENING.subscribe(seen)
    await connections.listen(path)
    LISTENING.unsubscribe(seen)
    const [server] = servers
    const faults = [new Error('accept EMFILE'), new Error('accept ENFILE')]
    for (const fault of faults) server?.emit('error', fault)
    expect(errors).toEqual(faults)
    expect(server?.listening).toBe(true)
    await connections.close()
  })

  test('refuses a path that is in use', async () => {
    const first = open()
    const second = open()
    await first.listen(path)
    await expect(second.listen(path)).rejects.toThrow('EADDRINUSE')
    expect(errors).toEqual([])
    await first.close()
  })
})
