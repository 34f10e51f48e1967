import { createServer, type Server } from 'node:net'

export interface SharedSocket extends AsyncDisposable {
  readonly port: number
  /** To be inherited by the processes that accept on it. */
  readonly descriptor: number
}

/** A listening socket for others. Disposed of here, it lives on in those that inherited it. */
export async function openSharedSocket(): Promise<SharedSocket> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return {
    port: address.port,
    descriptor: descriptorOf(server),
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Node has no public name for it. */
function descriptorOf(server: Server): number {
  const handle: unknown = Reflect.get(server, '_handle')
  const descriptor: unknown =
    typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined
  if (typeof descriptor === 'number' && descriptor > 0) return descriptor
  throw new Error('Node does not say the descriptor of its listening socket')
}
