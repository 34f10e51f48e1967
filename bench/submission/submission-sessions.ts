import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { connect as connectTls } from 'node:tls'

import { median, quantile } from '#bench/median.ts'

const DOMAINS = 50

interface SubmissionLoad {
  readonly port: number
  readonly sender: string
  /** Absent where no authentication is needed. */
  readonly password?: string
  readonly sessions: number
  readonly durationMs: number
  readonly messageBytes: number
}

interface SubmissionFigures {
  readonly sent: number
  readonly perSecond: number
  readonly medianMs: number
  readonly p99Ms: number
}

/** Submits messages, no two the same, over connections that stay; each waits for every answer. */
export async function submitMessages(load: SubmissionLoad): Promise<SubmissionFigures> {
  const clients = await Promise.all(Array.from({ length: load.sessions }, () => signedIn(load)))
  const startedAt = performance.now()
  const until = startedAt + load.durationMs
  const times: number[] = []
  await Promise.all(
    clients.map(async (client, session) => {
      for (let sent = 0; performance.now() < until; sent++) {
        const begun = performance.now()
        await client.say(`MAIL FROM:<${load.sender}>`, '250')
        await client.say(`RCPT TO:<vic@d${(session + sent) % DOMAINS}.test>`, '250')
        await client.say('DATA', '354')
        await client.say(`${message(`${startedAt}-${session}-${sent}`, load)}.`, '250')
        times.push(performance.now() - begun)
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  await Promise.all(clients.map((client) => client.say('QUIT', '221')))
  return {
    sent: times.length,
    perSecond: times.length / seconds,
    medianMs: median(times),
    p99Ms: quantile(times, 0.99),
  }
}

async function signedIn({ port, sender, password }: SubmissionLoad): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const plain = new Client(socket)
  await plain.heard('220')
  await plain.say('EHLO bench.test', '250')
  await plain.say('STARTTLS', '220')
  socket.removeAllListeners('data')
  const secure = connectTls({ socket, rejectUnauthorized: false })
  await once(secure, 'secureConnect')
  const client = new Client(secure)
  await client.say('EHLO bench.test', '250')
  if (password !== undefined) {
    const login = Buffer.from(`\0${sender}\0${password}`).toString('base64')
    await client.say(`AUTH PLAIN ${login}`, '235')
  }
  return client
}

function message(name: string, { sender, messageBytes }: SubmissionLoad): string {
  const header = `From: ${sender}\r\nTo: vic@d0.test\r\nSubject: ${name}\r\nMessage-ID: <${name}@bench.test>\r\n\r\n`
  const line = `${'x'.repeat(76)}\r\n`
  return header + line.repeat(Math.ceil((messageBytes - header.length) / line.length))
}

class Client {
  readonly #socket: Socket
  #said = ''
  #isOver = false
  #more = Promise.withResolvers<void>()

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => {
      this.#said += bytes.toString('latin1')
      this.#more.resolve()
    })
    socket.on('close', () => {
      this.#isOver = true
      this.#more.resolve()
    })
  }

  async say(text: string, expected: string): Promise<void> {
    this.#socket.write(`${text}\r\n`)
    await this.heard(expected)
  }

  async heard(expected: string): Promise<void> {
    while (!/^\d{3} .*\r\n$/m.test(this.#said)) {
      if (this.#isOver) throw new Error(`The server hung up: ${this.#said}`)
      await this.#more.promise
      this.#more = Promise.withResolvers()
    }
    const said = this.#said
    this.#said = ''
    if (!said.startsWith(expected)) throw new Error(`Expected ${expected}, received ${said}`)
  }
}
