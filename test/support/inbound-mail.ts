import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { connect as connectTls } from 'node:tls'

import type { Config } from '#config/config.ts'
import { loadConfig } from '#config/load.ts'
import { rawKey } from '#mail/objects/mail-keys.ts'
import type { DnsAnswer, DnsResolver } from '#platform/dns/dns-resolver.ts'

import { AdminPool } from './admin-api.ts'
import type { Stack } from './stack.ts'

type MailSettings = Config['mail']

/** Settings of the mail server for a stack that listens at any free port. */
export function mailSettings({
  smtpLimits,
  ...settings
}: Partial<Omit<MailSettings, 'smtpLimits'>> & {
  readonly smtpLimits?: Partial<MailSettings['smtpLimits']>
} = {}): MailSettings {
  const usual = loadConfig({}).config.mail
  return {
    ...usual,
    smtpPort: 0,
    submissionPort: 0,
    smtpHostname: 'mx.croft.test',
    ...settings,
    smtpLimits: { ...usual.smtpLimits, ...smtpLimits },
  }
}

/** DNS with the records of a test: `TXT _dmarc.a.test` and its like; an error is what the query fails with. */
export function dnsOf(records: Readonly<Record<string, DnsAnswer | string>>): DnsResolver {
  return async (name, type) => {
    const found = records[`${type} ${name}`]
    if (found === undefined) throw dnsError('ENOTFOUND', name)
    if (typeof found === 'string') throw dnsError(found, name)
    return structuredClone(found)
  }
}

const dnsError = (code: string, name: string): Error =>
  Object.assign(new Error(`query ${code} ${name}`), { code })

/** A client that says what a test writes, line by line. */
export class RawSmtp implements AsyncDisposable {
  socket: Socket
  #received = ''
  #ended = false
  #changed = Promise.withResolvers<void>()

  private constructor(socket: Socket) {
    this.socket = socket
    this.#listen(socket)
  }

  static async connect(port: number): Promise<RawSmtp> {
    const socket = connect(port, '127.0.0.1')
    const client = new RawSmtp(socket)
    await once(socket, 'connect')
    return client
  }

  /** After the greeting and EHLO. */
  static async greeted(port: number): Promise<RawSmtp> {
    const client = await RawSmtp.connect(port)
    await client.reply()
    await client.command('EHLO client.test')
    return client
  }

  /** After STARTTLS and another EHLO, too. */
  static async secured(port: number): Promise<RawSmtp> {
    const client = await RawSmtp.greeted(port)
    await client.startTls()
    await client.command('EHLO client.test')
    return client
  }

  async startTls(): Promise<void> {
    await this.command('STARTTLS')
    await this.secure()
  }

  /** The handshake, once the server has agreed to it. */
  async secure(): Promise<void> {
    this.socket.removeAllListeners('data')
    const secure = connectTls({ socket: this.socket, rejectUnauthorized: false })
    await once(secure, 'secureConnect')
    this.socket = secure
    this.#listen(secure)
  }

  write(text: string): void {
    this.socket.write(Buffer.from(text, 'utf8'))
  }

  /** The next reply, all its lines; what is left when the server hangs up. */
  async reply(): Promise<string> {
    for (;;) {
      const found = /^(?:\d{3}-[^\n]*\n)*\d{3} [^\n]*\n/.exec(this.#received)?.[0]
      if (found !== undefined) {
        this.#received = this.#received.slice(found.length)
        return found.trimEnd()
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
    let last = ''
    for (const line of lines) last = await this.command(line)
    return last
  }

  /** The reply to a message that ends as it should. */
  async message(from: string, to: readonly string[], text: string): Promise<string> {
    const mail = await this.command(`MAIL FROM:<${from}>`)
    if (!mail.startsWith('250')) return mail
    for (const each of to) {
      const reply = await this.command(`RCPT TO:<${each}>`)
      if (!reply.startsWith('250')) return reply
    }
    await this.command('DATA')
    this.write(text)
    return this.command(text.endsWith('\r\n') ? '.' : '\r\n.')
  }

  /** Resolves when the server has closed the connection. */
  async closed(): Promise<'closed'> {
    while (!this.#ended) await this.#changed.promise
    return 'closed'
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy()
    await this.closed()
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

export interface KeptMessage {
  readonly mailbox: string
  readonly recipient: string
  readonly subject: string
  /** As it is shown. */
  readonly from: string
  readonly raw: string
  readonly sha256: string
  readonly trace: string
  readonly authentication: Record<string, unknown>
  readonly client: Record<string, unknown>
  readonly envelopeFrom: string
}

/** All messages of a site with their bytes, in the order in which they came. */
export async function keptMessages(stack: Stack, host: string): Promise<KeptMessage[]> {
  const { objects } = stack.context
  return stack.inSite(host, async (tx, { siteId }) => {
    const rows = await tx.db
      .selectFrom('mail_message as message')
      .innerJoin('mail_raw as raw', (join) =>
        join
          .onRef('raw.raw_id', '=', 'message.raw_id')
          .onRef('raw.site_id', '=', 'message.site_id'),
      )
      .innerJoin('mailbox', (join) =>
        join
          .onRef('mailbox.mailbox_id', '=', 'message.mailbox_id')
          .onRef('mailbox.site_id', '=', 'message.site_id'),
      )
      .select([
        'mailbox.local_part as mailbox',
        'message.recipient',
        'message.subject',
        'message.from_address as from',
        'message.raw_id as rawId',
        'raw.sha256',
        'raw.trace_header as trace',
        'raw.authentication',
        'raw.client',
        'raw.envelope_from as envelopeFrom',
      ])
      .orderBy('message.received_at')
      .orderBy('mailbox.local_part')
      .execute()
    return Promise.all(
      rows.map(async ({ rawId, sha256, authentication, client, ...row }) => {
        const stored = await objects.get(rawKey(siteId, rawId))
        const raw = stored ? Buffer.from(await new Response(stored.body).arrayBuffer()) : ''
        return {
          ...row,
          raw: raw.toString('latin1'),
          sha256: sha256.toString('hex'),
          authentication: { ...(authentication as object) },
          client: { ...(client as object) },
        }
      }),
    )
  })
}

/** Mailboxes of a site, owned by its super-admin. */
export async function makeMailboxes(
  stack: Stack,
  host: string,
  names: readonly string[],
): Promise<void> {
  const ann = await new AdminPool(stack, host).first()
  for (const name of names) {
    const body = { address: `${name}@${host}`, owners: [ann.userId] }
    const { status, text } = await ann.call('POST', '/mailboxes', { body })
    if (status >= 300) throw new Error(`${name}@${host}: ${status} ${text}`)
  }
}
