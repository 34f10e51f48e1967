import { type Socket as UdpSocket, createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type Server, type Socket, createServer } from 'node:net'

import { type Answer, type DecodedPacket, type Packet, decode, encode } from 'dns-packet'

const RCODES = { FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const
const FLAGS = { authoritative: 0x0400, truncated: 0x0200, recursive: 0x0180 }

type Transport = 'udp' | 'tcp'

export interface SeenQuestion {
  /** As it was sent. */
  readonly name: string
  readonly type: string
  readonly transport: Transport
  readonly edns: boolean
  /** The port of the client. */
  readonly port: number
  readonly id: number
}

/** What a test's server says to a question. */
export interface DnsReply {
  readonly answers?: readonly Answer[]
  readonly authorities?: readonly Answer[]
  readonly rcode?: keyof typeof RCODES
  /** Changes the bytes of the response, or gives several or none in their place. */
  readonly sent?: (response: Buffer, transport: Transport) => readonly Buffer[]
}

/** The reply to a question, its name in lower case; undefined for a name that does not exist. */
export type DnsZone = (name: string, type: string, seen: SeenQuestion) => DnsReply | undefined

export const NO_RESPONSE: DnsReply = { sent: () => [] }

const SOA: Answer = {
  type: 'SOA',
  name: 'test',
  ttl: 60,
  data: { mname: 'ns.test', rname: 'root.test', serial: 1, refresh: 1, retry: 1, expire: 1 },
}

/** Text in strings of 255 bytes, as name servers have it. */
export const txt = (name: string, text: string, ttl = 300): Answer => {
  return { type: 'TXT', name, ttl, data: text.match(/.{1,255}/g) ?? [''] }
}

/** A name server on a free port of this machine, over UDP and TCP; its messages are made by a codec of others. */
export class DnsServer implements AsyncDisposable {
  readonly port: number
  readonly seen: SeenQuestion[] = []
  zone: DnsZone
  readonly #udp: UdpSocket
  readonly #tcp: Server
  readonly #connections = new Set<Socket>()

  private constructor(zone: DnsZone, sockets: { udp: UdpSocket; tcp: Server; port: number }) {
    this.zone = zone
    this.#udp = sockets.udp
    this.#tcp = sockets.tcp
    this.port = sockets.port
    this.#udp.on('message', (message, { address, port }) => {
      for (const each of this.#respond(message, 'udp', port)) this.#udp.send(each, port, address)
    })
    this.#tcp.on('connection', (socket) => this.#connected(socket))
  }

  /** `127.0.0.1:{port}` */
  get address(): string {
    return `127.0.0.1:${this.port}`
  }

  static async start(zone: DnsZone): Promise<DnsServer> {
    for (;;) {
      const tcp = createServer().listen(0, '127.0.0.1')
      await once(tcp, 'listening')
      const address = tcp.address()
      if (address === null || typeof address === 'string') throw new Error('No port for DNS')
      const { port } = address
      const udp = createSocket('udp4')
      const bound = Promise.race([once(udp, 'listening').then(() => true), once(udp, 'error')])
      udp.bind(port, '127.0.0.1')
      if ((await bound) === true) return new DnsServer(zone, { udp, tcp, port })
      tcp.close()
    }
  }

  /** Questions for that name, in the order in which they came. */
  asked(name: string): SeenQuestion[] {
    return this.seen.filter((each) => each.name.toLowerCase() === name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#udp.close()
    for (const socket of this.#connections) socket.destroy()
    await new Promise((resolve) => this.#tcp.close(resolve))
  }

  #connected(socket: Socket): void {
    this.#connections.add(socket)
    socket.on('error', () => {}).on('close', () => this.#connections.delete(socket))
    let received = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
      const query = received.subarray(2, 2 + received.readUInt16BE(0))
      for (const each of this.#respond(query, 'tcp', socket.remotePort ?? 0)) {
        const length = Buffer.alloc(2)
        length.writeUInt16BE(each.length)
        // In two pieces: a reader must not take the first for the whole.
        socket.write(Buffer.concat([length, each.subarray(0, 5)]))
        setImmediate(() => socket.write(each.subarray(5)))
      }
    })
  }

  #respond(message: Buffer, transport: Transport, port: number): readonly Buffer[] {
    const query = decode(message)
    const [question] = query.questions ?? []
    if (!question) return []
    const option = query.additionals?.find((each) => each.type === 'OPT')
    const { name, type } = question
    const edns = option !== undefined
    const seen = { name, type, transport, edns, port, id: query.id ?? 0 }
    this.seen.push(seen)
    const reply = this.zone(name.toLowerCase(), type, seen) ?? { rcode: 'NXDOMAIN' }
    const size = transport === 'tcp' ? 65_535 : option ? option.udpPayloadSize : 512
    const response = encoded(query, reply, size)
    return reply.sent ? reply.sent(response, transport) : [response]
  }
}

function encoded(query: DecodedPacket, reply: DnsReply, maxBytes: number): Buffer {
  const { answers = [], rcode } = reply
  const authorities =
    reply.authorities ?? (answers.length === 0 && !(rcode && rcode !== 'NXDOMAIN') ? [SOA] : [])
  const flags = FLAGS.recursive | (rcode === undefined ? 0 : RCODES[rcode])
  const packet: Packet = { type: 'response', id: query.id ?? 0, questions: query.questions ?? [] }
  const whole = encode({ ...packet, flags, answers: [...answers], authorities: [...authorities] })
  return whole.length <= maxBytes
    ? Buffer.from(whole)
    : Buffer.from(encode({ ...packet, flags: flags | FLAGS.truncated }))
}
