import { createServer, type Server, type Socket } from 'node:net'

import { listening } from '#platform/listening.ts'
import { FrameReader } from '#sandbox/protocol/frames.ts'
import { FROM_WORKER } from '#sandbox/protocol/grammars.ts'
import { readRecords } from '#sandbox/protocol/records.ts'

/** Who takes what a connection brings. */
export interface FrameReceiver {
  receive(text: string): void
  closed(): void
}

/** The socket that hosts connect to. A connection without a host's token is closed. */
export class HostSocketServer {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #failed: (error: Error) => void

  /**
   * `accept` gives the receiver of a connection, or undefined to refuse it. Calls `failed` with errors of the socket while it
   * listens: connections that are open go on.
   */
  constructor(
    accept: (token: string, socket: Socket) => FrameReceiver | undefined,
    failed: (error: Error) => void,
  ) {
    this.#failed = failed
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      const frames = new FrameReader()
      let receiver: FrameReceiver | undefined
      socket.on('data', (chunk) => {
        try {
          for (const text of frames.push(chunk)) {
            if (receiver) receiver.receive(text)
            else receiver = accept(tokenOf(text), socket)
            if (!receiver) socket.destroy()
          }
        } catch {
          // Whatever breaks the protocol is not spoken to any more; its host is restarted.
          socket.destroy()
        }
      })
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        receiver?.closed()
      })
    })
  }

  listen(path: string): Promise<void> {
    return listening(this.#server, (begun) => this.#server.listen(path, begun), this.#failed)
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}

function tokenOf(text: string): string {
  const [record] = readRecords(text, FROM_WORKER)
  if (record?.kind !== 'hello') throw new Error('A connection began without a hello')
  return record.texts[0]
}
