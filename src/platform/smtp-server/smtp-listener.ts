import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import { type SMTPConnectionOptions, SMTPConnection } from 'smtp-server/lib/smtp-connection.js'

import type { Clock } from '#base/clock.ts'
import { hasCode } from '#base/error-code.ts'
import { Tally } from '#base/tally.ts'
import type { MailConfig } from '#config/config.ts'
import { listenError } from '#platform/listen-error.ts'
import { listening } from '#platform/listening.ts'
import type { Logger } from '#platform/log/logger.ts'

import type { SmtpClient, SmtpPolicy } from './smtp-policy.ts'
import { SmtpReply } from './smtp-reply.ts'
import { type TlsMaterial, readTlsMaterial } from './tls-material.ts'

/** RFC 5321 §4.5.3.2.7 asks a server to wait this long for a command. */
const IDLE_MS = 5 * 60_000
const MAX_COMMAND_BYTES = 4096
const RELOAD_MS = 5000
const LAST_WORDS_MS = 1000
const PORT_SETTINGS = { smtp: 'SMTP_PORT', submission: 'SUBMISSION_PORT' } as const

/** The library's answers to relics and to what only a trusted proxy may say. */
const DISABLED = ['HELP', 'WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD']

/** More than a message to a hundred recipients takes, with every command sent twice. */
const MAX_COMMANDS = 300
const MAX_REFUSALS = 50
const HAS_STATUS = /^[245]\.\d{1,3}\.\d{1,3} /

/** Takes mail at a port, as the policy says. */
export class SmtpListener {
  /** Messages since the start, by the last word on them: 2xx, 5xx, or 4xx. */
  readonly messages = new Tally(['accepted', 'refused', 'deferred'])
  readonly #deps
  readonly #receiving = new Set<string>()
  #server: GuardedServer | undefined
  #reloading: NodeJS.Timeout | undefined
  #draining = false

  constructor(deps: {
    readonly config: MailConfig
    /** What it is called in logs. */
    readonly name: 'smtp' | 'submission'
    readonly port: number
    /** The largest message. */
    readonly messageBytes: number
    readonly dataDir: string
    readonly clock: Clock
    readonly logger: Logger
    readonly policy: SmtpPolicy
    /** How often the certificate's files are looked at. */
    readonly reloadMs?: number
  }) {
    this.#deps = deps
  }

  get connections(): number {
    return this.#server?.connections.size ?? 0
  }

  get isListening(): boolean {
    return this.#server?.server.listening === true && !this.#draining
  }

  /** Begins to listen; gives the port. Rejects with a `SetupError` when the address cannot be had. */
  async start(): Promise<number> {
    const { config, name, logger, reloadMs = RELOAD_MS } = this.#deps
    const material = await this.#material()
    const server = new GuardedServer(this.#options(material))
    // An error of one connection: a reset, a failed handshake.
    server.on('error', (error) => logger.debug({ err: error }, 'an SMTP connection failed'))
    await listening(
      server.server,
      (begun) => server.listen(this.#deps.port, config.smtpHost, begun),
      (error) => logger.error({ err: error, name }, 'the SMTP server failed'),
    ).catch((error: unknown) => {
      const settings = { host: 'SMTP_HOST', port: PORT_SETTINGS[name] }
      throw listenError(error, { hostname: config.smtpHost, port: this.#deps.port, settings })
    })
    this.#server = server
    this.#reloadTls(material, reloadMs)
    const address = server.server.address()
    const port = address !== null && typeof address === 'object' ? address.port : this.#deps.port
    logger.info({ host: config.smtpHost, port }, `${name} listens`)
    return port
  }

  /** Takes no new connection, says 421 to those that send nothing, and finishes the messages that are being received. */
  async drain(deadlineMs: number): Promise<void> {
    const server = this.#server
    if (!server || this.#draining) return
    this.#draining = true
    clearTimeout(this.#reloading)
    const closed = new Promise<void>((resolve) => server.close(resolve))
    for (const connection of server.connections) {
      if (!this.#receiving.has(connection.id)) bye(connection)
    }
    const over = new AbortController()
    const deadline = delay(deadlineMs, undefined, { signal: over.signal }).catch(() => {})
    const quiet = this.#untilQuiet(over.signal).then(() => Promise.race([closed, lastWords()]))
    await Promise.race([quiet, deadline])
    over.abort()
    server.destroyAll()
    await closed
  }

  async #untilQuiet(signal: AbortSignal): Promise<void> {
    while (this.#receiving.size > 0 && !signal.aborted) await delay(20)
  }

  #options({ key, cert }: TlsMaterial): SMTPServerOptions {
    const { config, policy, messageBytes } = this.#deps
    return {
      name: config.smtpHostname,
      banner: 'ready',
      heloResponse: '%s at your service',
      key,
      cert,
      minVersion: 'TLSv1.2',
      size: messageBytes,
      maxClients: config.smtpLimits.connections,
      maxCommandLength: MAX_COMMAND_BYTES,
      socketTimeout: IDLE_MS,
      closeTimeout: 2 ** 31 - 1,
      hideENHANCEDSTATUSCODES: false,
      ...this.#authentication(),
      // A name that a stranger chose says nothing; SPF asks for what it needs.
      disableReverseLookup: true,
      logger: false,
      onConnect: (session, done) =>
        void this.#answer(() => policy.connected(clientOf(session)), done),
      onMailFrom: ({ address, args }, session, done) => {
        const declaredBytes = args === false ? 0 : Number(args['SIZE'] ?? 0) || 0
        const command = { address, declaredBytes, smtpUtf8: session.envelope.smtpUtf8 === true }
        void this.#answer(() => policy.mail(clientOf(session), command), done)
      },
      onRcptTo: ({ address }, session, done) =>
        void this.#answer(() => policy.recipient(clientOf(session), address), done),
      onData: (stream, session, done) => void this.#receive(stream, session, done),
      onClose: (session) => this.#closed(session),
    }
  }

  #authentication(): SMTPServerOptions {
    const { policy } = this.#deps
    if (!policy.authenticate) return { authOptional: true, disabledCommands: ['AUTH', ...DISABLED] }
    return {
      authMethods: ['PLAIN', 'LOGIN'],
      authRequiredMessage: '5.7.0 Log in first, after STARTTLS',
      disabledCommands: DISABLED,
      onAuth: ({ username, password }, session, done) => {
        const login = { username: username ?? '', password: password ?? '' }
        const work = () => policy.authenticate?.(clientOf(session), login)
        void this.#answer(work, (refusal) => done(refusal, { user: session.id }))
      },
    }
  }

  async #answer(
    work: () => void | Promise<void>,
    done: (error?: Error | null) => void,
  ): Promise<void> {
    let refusal: SmtpReply | undefined
    try {
      await work()
    } catch (error) {
      refusal = this.#replyFor(error)
    }
    done(refusal)
  }

  async #receive(
    stream: Readable,
    session: SMTPServerSession,
    done: (error?: Error | null, message?: string) => void,
  ): Promise<void> {
    const client = clientOf(session)
    this.#receiving.add(client.connectionId)
    stream.on('error', () => {})
    try {
      const text = await this.#deps.policy.message(client, bytesOf(stream))
      this.messages.add('accepted')
      this.#connection(session)?.messageTaken()
      done(null, text)
    } catch (error) {
      this.#skipRest(stream, session)
      const reply = this.#replyFor(error)
      this.messages.add(reply.responseCode >= 500 ? 'refused' : 'deferred')
      done(reply)
    } finally {
      this.#receiving.delete(client.connectionId)
      const connection = this.#connection(session)
      if (this.#draining && connection) setImmediate(() => bye(connection))
    }
  }

  /** A client that is refused sends on until it has said all; what is twice too long ends with the connection. */
  #skipRest(stream: Readable, session: SMTPServerSession): void {
    let left = this.#deps.messageBytes
    stream.on('data', (chunk: Uint8Array) => {
      left -= chunk.length
      if (left < 0) this.#connection(session)?.hangUp()
    })
    stream.resume()
  }

  #closed(session: SMTPServerSession): void {
    const { commands = 0, refusals = 0 } = this.#server?.finished(session.id) ?? {}
    this.#deps.policy.closed(clientOf(session), { commands, refusals })
  }

  #connection(session: SMTPServerSession): GuardedConnection | undefined {
    return this.#server?.guarded.get(session.id)
  }

  #replyFor(error: unknown): SmtpReply {
    if (error instanceof SmtpReply) return error
    if (hasCode(error, 'ECONNECTION')) return new SmtpReply(421, '4.4.2', 'The client went away')
    this.#deps.policy.failed(error)
    return new SmtpReply(451, '4.3.0', 'Something failed here: try again later', { cause: error })
  }

  #material(): Promise<TlsMaterial> {
    const { config, dataDir, clock } = this.#deps
    return readTlsMaterial(config, dataDir, clock)
  }

  /** A file that is being written, or broken, changes nothing: the next look may find it whole. */
  #reloadTls(current: TlsMaterial, everyMs: number): void {
    const look = async (): Promise<void> => {
      let known = current
      try {
        const found = await this.#material()
        if (found.cert !== current.cert || found.key !== current.key) {
          this.#server?.updateSecureContext({ key: found.key, cert: found.cert })
          this.#deps.logger.info({}, 'smtp certificate reloaded')
          known = found
        }
      } catch (error) {
        this.#deps.logger.warn({ err: error }, 'smtp certificate cannot be reloaded')
      }
      if (!this.#draining) this.#reloadTls(known, everyMs)
    }
    this.#reloading = setTimeout(() => void look(), everyMs)
    this.#reloading.unref()
  }
}

/** The library's server, with connections of ours. */
class GuardedServer extends SMTPServer {
  readonly guarded = new Map<string, GuardedConnection>()
  readonly #sockets = new Set<Socket>()

  override connect(socket: Socket, options?: SMTPConnectionOptions | null): void {
    const connection = new GuardedConnection(this, socket, options)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    this.guarded.set(connection.id, connection)
    this.connections.add(connection)
    connection.on('error', (error: Error) => this._onError(error))
    connection.init()
  }

  finished(id: string): GuardedConnection | undefined {
    const connection = this.guarded.get(id)
    this.guarded.delete(id)
    return connection
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

const bye = (connection: Pick<GuardedConnection, 'send'>): void =>
  connection.send(421, '4.3.2 The server shuts down: try again in a moment')

/** A client reads the last reply and closes; one that does not is not waited for. */
const lastWords = (): Promise<void> => delay(LAST_WORDS_MS)

/** A stream that is read to its middle is not destroyed: the library would answer before the client has ended. */
const bytesOf = (stream: Readable): AsyncIterable<Uint8Array> =>
  stream.iterator({ destroyOnReturn: false })

function clientOf(session: SMTPServerSession): SmtpClient {
  const { id, remoteAddress, hostNameAppearsAs, transmissionType, tlsOptions } = session
  return {
    connectionId: id,
    address: remoteAddress ?? '',
    heloName: hostNameAppearsAs || '',
    protocol: transmissionType ?? 'SMTP',
    tls: tlsOptions ? { version: tlsOptions.version, cipher: tlsOptions.name } : undefined,
  }
}

/** Of the features in the reply to EHLO (RFC 4954, section 3). */
const isNoLogin = (feature: string): boolean => !feature.startsWith('AUTH ')

/** A connection that counts what it is asked for, and reads enhanced status codes of responses. */
class GuardedConnection extends SMTPConnection {
  commands = 0
  refusals = 0
  /** Since the last message. */
  #commandsInARow = 0

  /** A text that begins with an enhanced status code keeps it; any other gets the library's for its reply code. */
  override send(code: number, text?: string | string[] | null, context?: string | false): void {
    if (code >= 400) this.refusals += 1
    const isComplete = typeof text === 'string' && HAS_STATUS.test(text)
    // The library offers a login before STARTTLS, though it refuses it: a careless client sends its password at once.
    const said = Array.isArray(text) && !this.secure ? text.filter(isNoLogin) : text
    super.send(code, said, isComplete ? false : context)
  }

  override _onCommand(command: Buffer, callback?: () => void): void {
    this.commands += 1
    this.#commandsInARow += 1
    if (this.#commandsInARow > MAX_COMMANDS) {
      this.send(421, '4.7.0 Too many commands without a message: closing the connection')
    } else if (this.refusals > MAX_REFUSALS) {
      this.send(421, '4.7.0 Too many refused commands: closing the connection')
    } else {
      super._onCommand(command, callback)
    }
  }

  /** Ends the connection in the middle of a message, where no reply is read. */
  hangUp(): void {
    this._socket.destroy()
  }

  messageTaken(): void {
    this.#commandsInARow = 0
  }
}
