import type { Server } from 'node:net'

/**
 * Has a server listen: resolves when it does, rejects with what kept it from that. Calls `failed` with errors of its socket from
 * then on, while it listens: connections that are open go on.
 */
export async function listening(
  server: Server,
  listen: (begun: () => void) => void,
  failed: (error: Error) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  listen(resolve)
  await promise.finally(() => server.off('error', reject))
  server.on('error', (error) => {
    if (server.listening) failed(error)
  })
}
