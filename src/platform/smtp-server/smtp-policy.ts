/** Who is at the other end of a connection, as far as is known now. */
export interface SmtpClient {
  readonly connectionId: string
  readonly address: string
  /** What it calls itself in HELO or EHLO; empty before. */
  readonly heloName: string
  /** `SMTP`, `ESMTP`, `ESMTPS` or `ESMTPSA`, as a Received header names it. */
  readonly protocol: string
  /** Undefined without TLS. */
  readonly tls: { readonly version: string; readonly cipher: string } | undefined
}

/** The parameters of MAIL. The null sender is an empty address. */
export interface MailCommand {
  readonly address: string
  /** What the client says that the message will have, or 0. */
  readonly declaredBytes: number
  readonly smtpUtf8: boolean
}

/** What a client logs in with: nothing of it is checked. */
export interface SmtpLogin {
  readonly username: string
  readonly password: string
}

/** How a connection went, at its end. */
export interface ConnectionSummary {
  readonly commands: number
  readonly refusals: number
}

/**
 * What a mail server lets through. Each method answers by returning, or refuses by throwing an `SmtpReply`; any other error is
 * answered with a 451 and passed to `failed`.
 */
export interface SmtpPolicy {
  connected(client: SmtpClient): void
  /** Where it is there, nothing goes without: a login is offered over TLS alone, and MAIL before it is refused with 530. */
  authenticate?(client: SmtpClient, login: SmtpLogin): Promise<void>
  mail(client: SmtpClient, command: MailCommand): Promise<void>
  recipient(client: SmtpClient, address: string): Promise<void>
  /** Reads the message to its end, and gives the text of the reply once it is kept. */
  message(client: SmtpClient, content: AsyncIterable<Uint8Array>): Promise<string>
  closed(client: SmtpClient, summary: ConnectionSummary): void
  failed(error: unknown): void
}
