import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** A client that says what a test writes, line by line, at first in the clear. */
export class TlsSmtp implements AsyncDisposable {
  last = ''
  #socket: Socket
  #received = ''
  #ended = false
  #changed = Promise.withResolvers<void>()

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#listen(socket)
  }

  static async connect(port: number): Promise<TlsSmtp> {
    const socket = connect(port, '127.0.0.1')
    const client = new TlsSmtp(socket)
    await once(socket, 'connect')
    return client
  }

  /** After the greeting, STARTTLS and EHLO. */
  static async greeted(port: number): Promise<TlsSmtp> {
    const client = await TlsSmtp.connect(port)
    await client.reply()
    await client.command('EHLO laptop.test')
    await client.startTls()
    await client.command('EHLO laptop.test')
    return client
  }

  async startTls(): Promise<void> {
    await this.command('STARTTLS')
    const plain = this.#socket
    plain.removeAllListeners('data')
    const socket = connectTls({ socket: plain, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    this.#socket = socket
    this.#listen(socket)
  }

  write(text: string): void {
    this.#socket.write(Buffer.from(text, 'utf8'))
  }

  /** The next reply, all its lines; what is left when the server hangs up. */
  async reply(): Promise<string> {
    for (;;) {
      const found = /^(?:\d{3}-[^\n]*\n)*\d{3} [^\n]*\n/.exec(this.#received)?.[0]
      if (found !== undefined) {
        this.#received = this.#received.slice(found.length)
        this.last = found.trimEnd()
        return this.last
      }
      if (this.#ended) return this.#received
      await this.#changed.promise
    }
  }

  async command(line: string): Promise<string> {
    this.write(`${line}\r\n`)
    return this.reply()
  }

  /** The reply to the last of these commands. */
  async commands(...lines: readonly string[]): Promise<string> {
    for (const line of lines) await this.command(line)
    return this.last
  }

  /** The reply to a message that ends as it should. */
  async message(from: string, to: readonly string[], text: string): Promise<string> {
    const recipients = to.map((each) => `RCPT TO:<${each}>`)
    for (const line of [`MAIL FROM:<${from}>`, ...recipients]) {
      const reply = await this.command(line)
      if (!reply.startsWith('250')) return reply
    }
    await this.command('DATA')
    this.write(text.replaceAll(/(?<=\r\n)\./g, '..'))
    return this.command(text.endsWith('\r\n') ? '.' : '\r\n.')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy()
    while (!this.#ended) await this.#changed.promise
  }

  #listen(socket: Socket): void {
    socket.setEncoding('latin1').on('data', (text: string) => this.#note(text))
    socket.on('error', () => {}).on('close', () => this.#note(undefined))
  }

  #note(text: string | undefined): void {
    if (text === undefined) this.#ended = true
    else this.#received += text
    const { resolve } = this.#changed
    this.#changed = Promise.withResolvers()
    resolve()
  }
}
