import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

const REPLIES: Readonly<Record<string, string>> = {
  EHLO: '250 gateway.test',
  DATA: '354 go on',
  QUIT: '221 bye',
}

/** A gateway that takes its time: for each message, and for recipients of some domains. */
export class SlowGateway implements AsyncDisposable {
  /** Called with each message that it has taken. */
  taken: (text: string) => void = () => {}
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #delays: { readonly messageMs: number; recipientMs(line: string): number }

  private constructor(delays: { readonly messageMs: number; recipientMs(line: string): number }) {
    this.#delays = delays
    this.#server = createServer((socket) => void this.#serve(socket))
  }

  static async start(delays: {
    readonly messageMs: number
    recipientMs(line: string): number
  }): Promise<SlowGateway> {
    const gateway = new SlowGateway(delays)
    await new Promise<void>((resolve) => gateway.#server.listen(0, '127.0.0.1', resolve))
    return gateway
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  async #serve(socket: Socket): Promise<void> {
    this.#sockets.add(socket)
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
    socket.write('220 gateway.test ESMTP\r\n')
    let message: string[] | undefined
    for await (const line of createInterface({ input: socket })) {
      if (message && line !== '.') message.push(line)
      else if (message) {
        await pause(this.#delays.messageMs)
        this.taken(message.join('\n'))
        message = undefined
        socket.write('250 2.0.0 taken\r\n')
      } else {
        if (line.startsWith('RCPT')) await pause(this.#delays.recipientMs(line))
        if (line.startsWith('DATA')) message = []
        socket.write(`${REPLIES[line.slice(0, 4)] ?? '250 2.0.0 ok'}\r\n`)
      }
    }
  }
}
