import { once } from 'node:events'
import { connect } from 'node:net'

import { median, quantile } from '#bench/median.ts'

/** The server ends a connection at some number of messages, and says so: then another one begins. */
const MESSAGES_PER_CONNECTION = 500

export interface SmtpLoad {
  readonly port: number
  readonly recipient: string
  readonly sessions: number
  readonly durationMs: number
  readonly messageBytes: number
}

export interface SmtpFigures {
  readonly messages: number
  readonly perSecond: number
  readonly medianMs: number
  readonly p99Ms: number
}

/** Sends messages, no two the same, over so many connections at once; each waits for every answer, as mail servers do. */
export async function sendMessages(load: SmtpLoad): Promise<SmtpFigures> {
  const startedAt = performance.now()
  const until = startedAt + load.durationMs
  const times: number[] = []
  const sessions = Array.from({ length: load.sessions }, async (_, session) => {
    for (let sent = 0; performance.now() < until;) {
      const client = await Client.greeted(load.port)
      for (let here = 0; here < MESSAGES_PER_CONNECTION && performance.now() < until; here++) {
        const begun = performance.now()
        await client.send(load.recipient, message(`${startedAt}-${session}-${sent++}`, load))
        times.push(performance.now() - begun)
      }
      await client.say('QUIT', '221')
    }
  })
  await Promise.all(sessions)
  const seconds = (performance.now() - startedAt) / 1000
  return {
    messages: times.length,
    perSecond: times.length / seconds,
    medianMs: median(times),
    p99Ms: quantile(times, 0.99),
  }
}

function message(name: string, { messageBytes }: SmtpLoad): string {
  const header = `From: bench@a.test\r\nSubject: ${name}\r\nMessage-ID: <${name}@a.test>\r\n\r\n`
  const line = `${'x'.repeat(76)}\r\n`
  return header + line.repeat(Math.ceil((messageBytes - header.length) / line.length))
}

class Client {
  readonly #socket: ReturnType<typeof connect>
  #said = ''
  #isOver = false
  #heard = Promise.withResolvers<void>()

  private constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.setEncoding('latin1').on('data', (text: string) => {
      this.#said += text
      this.#heard.resolve()
    })
    this.#socket.on('close', () => {
      this.#isOver = true
      this.#heard.resolve()
    })
  }

  static async greeted(port: number): Promise<Client> {
    const client = new Client(port)
    await once(client.#socket, 'connect')
    await client.#reply('220')
    await client.say('EHLO bench.test', '250')
    return client
  }

  async send(recipient: string, text: string): Promise<void> {
    await this.say('MAIL FROM:<bench@a.test>', '250')
    await this.say(`RCPT TO:<${recipient}>`, '250')
    await this.say('DATA', '354')
    await this.say(`${text}.`, '250')
  }

  async say(text: string, expected: string): Promise<void> {
    this.#socket.write(`${text}\r\n`)
    await this.#reply(expected)
  }

  async #reply(expected: string): Promise<void> {
    while (!/^\d{3} .*\r\n$/m.test(this.#said)) {
      if (this.#isOver) throw new Error(`The server hung up: ${this.#said}`)
      await this.#heard.promise
      this.#heard = Promise.withResolvers()
    }
    const said = this.#said
    this.#said = ''
    if (!said.startsWith(expected)) throw new Error(`Expected ${expected}, received ${said}`)
  }
}
