import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'

export interface Listener extends AsyncDisposable {
  /** `http://127.0.0.1:{port}` */
  readonly origin: string
}

export type Answering = (request: IncomingMessage, response: ServerResponse) => void

/** A server on a free port of this machine; what answers is made once the port is known. */
export async function listen(answeringAt: (origin: string) => Answering): Promise<Listener> {
  let answering: Answering = (_request, response) => response.writeHead(503).end()
  const server: Server = createServer((request, response) => answering(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  const origin = `http://127.0.0.1:${address.port}`
  answering = answeringAt(origin)
  return {
    origin,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
