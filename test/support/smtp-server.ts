import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { type SecureContext, TLSSocket, createSecureContext } from 'node:tls'

import type { Certificate } from './test-certificate.ts'

export type Verb = 'CONNECT' | 'EHLO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'MESSAGE'

export interface TakenMessage {
  readonly from: string
  readonly to: readonly string[]
  /** As it arrived, dots unstuffed. */
  readonly data: string
  readonly secure: boolean
  readonly login: string | undefined
}

export interface SmtpServerOptions {
  readonly certificate?: Certificate
  /** TLS from the first byte. */
  readonly implicitTls?: true
}

/** A small mail server that takes what it is sent, and refuses, dies or falls silent where a test says so. */
export class SmtpServer implements AsyncDisposable {
  readonly messages: TakenMessage[] = []
  /** Every line that a client sent outside of a message. */
  readonly commands: string[] = []
  /**
   * Gives another answer than the usual one; `hang up` ends the connection instead, `stay silent` does nothing. `MESSAGE`
   * is the answer after the final dot, when the message has been read.
   */
  answer: (verb: Verb, line: string) => string | undefined = () => undefined
  connections = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #options: SmtpServerOptions
  readonly #context: SecureContext | undefined

  private constructor(options: SmtpServerOptions) {
    this.#options = options
    this.#context = options.certificate && createSecureContext(options.certificate)
    this.#server = createServer((socket) => this.#accept(socket))
  }

  static async start(options: SmtpServerOptions = {}): Promise<SmtpServer> {
    const server = new SmtpServer(options)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get offersTls(): boolean {
    return this.#context !== undefined && this.#options.implicitTls !== true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  secure(socket: Socket): TLSSocket {
    const options = { isServer: true, ...(this.#context && { secureContext: this.#context }) }
    return new TLSSocket(socket, options)
  }

  #accept(socket: Socket): void {
    this.connections += 1
    this.#sockets.add(socket)
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
    const { implicitTls } = this.#options
    const stream = implicitTls ? this.secure(socket) : socket
    new Session(this, implicitTls === true).serve(stream)
  }
}

interface Step {
  readonly verb: Verb
  reply(): string
  take?(line: string): unknown
}

/** One client, line by line. */
class Session {
  readonly #server: SmtpServer
  #secure: boolean
  #stream: Socket | undefined
  #buffered = ''
  #login: string | undefined
  #from = ''
  #to: string[] = []
  #message: string[] | undefined
  readonly #steps: Readonly<Record<string, Step>> = {
    EHLO: { verb: 'EHLO', reply: () => this.#greeting() },
    STARTTLS: { verb: 'STARTTLS', reply: () => '220 go ahead', take: () => this.#upgrade() },
    AUTH: {
      verb: 'AUTH',
      reply: () => '235 2.7.0 welcome',
      take: (line) => (this.#login = Buffer.from(line.split(' ')[2] ?? '', 'base64').toString()),
    },
    MAIL: {
      verb: 'MAIL',
      reply: () => '250 2.1.0 ok',
      take: (line) => ([this.#from, this.#to] = [pathIn(line), []]),
    },
    RCPT: {
      verb: 'RCPT',
      reply: () => '250 2.1.5 ok',
      take: (line) => this.#to.push(pathIn(line)),
    },
    DATA: { verb: 'DATA', reply: () => '354 go on', take: () => (this.#message = []) },
  }

  constructor(server: SmtpServer, secure: boolean) {
    this.#server = server
    this.#secure = secure
  }

  serve(stream: Socket): void {
    this.#listen(stream)
    this.#reply('CONNECT', '', '220 test.invalid ESMTP')
  }

  #listen(stream: Socket): void {
    this.#stream = stream
    this.#buffered = ''
    stream.on('error', () => {})
    stream.setEncoding('utf8').on('data', (text: string) => this.#take(text))
  }

  #take(text: string): void {
    this.#buffered += text
    for (let end = this.#buffered.indexOf('\r\n'); end >= 0; end = this.#buffered.indexOf('\r\n')) {
      const line = this.#buffered.slice(0, end)
      this.#buffered = this.#buffered.slice(end + 2)
      if (this.#message) this.#messageLine(line)
      else this.#command(line)
    }
  }

  #command(line: string): void {
    this.#server.commands.push(line)
    const word = line.toUpperCase().split(/[ :]/, 1)[0] ?? ''
    const step = this.#steps[word]
    if (step) this.#reply(step.verb, line, step.reply(), () => step.take?.(line))
    else if (word === 'QUIT') this.#stream?.end('221 bye\r\n')
    else this.#stream?.write(['RSET', 'NOOP'].includes(word) ? '250 ok\r\n' : '500 what?\r\n')
  }

  #messageLine(line: string): void {
    if (line !== '.') {
      this.#message?.push(line.startsWith('.') ? line.slice(1) : line)
      return
    }
    const data = (this.#message ?? []).join('\r\n')
    this.#message = undefined
    this.#reply('MESSAGE', data, '250 2.0.0 taken', () =>
      this.#server.messages.push({
        from: this.#from,
        to: this.#to,
        data,
        secure: this.#secure,
        login: this.#login,
      }),
    )
  }

  /** `then` runs unless the test has another answer. */
  #reply(verb: Verb, line: string, usual: string, then?: () => void): void {
    const other = this.#server.answer(verb, line)
    if (other === 'hang up') this.#stream?.destroy()
    else if (other === undefined) {
      this.#stream?.write(`${usual}\r\n`)
      then?.()
    } else if (other !== 'stay silent') this.#stream?.write(`${other}\r\n`)
  }

  #greeting(): string {
    const tls = this.#server.offersTls && !this.#secure ? ['250-STARTTLS'] : []
    return ['250-test.invalid', ...tls, '250-AUTH PLAIN', '250-SMTPUTF8', '250 8BITMIME'].join(
      '\r\n',
    )
  }

  #upgrade(): void {
    const plain = this.#stream
    if (!plain) return
    plain.removeAllListeners('data')
    this.#secure = true
    this.#listen(this.#server.secure(plain))
  }
}

const pathIn = (line: string): string => /<(.*)>/.exec(line)?.[1] ?? ''
