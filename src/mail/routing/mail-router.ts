import type { AuthenticationOutcome } from '#mail/inbound/authentication.ts'
import type { LocalMail } from '#mail/inbound/local-mail.ts'
import type { MailTransport, RawMail } from '#platform/smtp/mail-transport.ts'

/** Where a message goes: to a site here, to the gateway, or, where there is none, to the operator. */
export type MailRoute = 'local' | 'gateway' | 'outbox'

export interface RoutedMail extends RawMail {
  /** What is known of its author. */
  readonly outcome: AuthenticationOutcome
}

/** Hands each message to the server that its recipient's mail goes to: this one for the sites here. */
export class MailRouter {
  readonly #deps

  constructor(deps: {
    readonly mailTransport: MailTransport
    /** Is asked only once mail is open. */
    readonly localMail: () => Pick<LocalMail, 'takes' | 'deliver'>
  }) {
    this.#deps = deps
  }

  /** Whether mail for other servers leaves. */
  get hasGateway(): boolean {
    return this.#deps.mailTransport.delivers
  }

  /** Rejects when it cannot be found out now. */
  async routeOf(recipient: string): Promise<MailRoute> {
    if (await this.#deps.localMail().takes(recipient)) return 'local'
    return this.hasGateway ? 'gateway' : 'outbox'
  }

  /** As `MailTransport.send`. */
  async send(route: MailRoute, message: RoutedMail, signal: AbortSignal): Promise<void> {
    const { mailTransport, localMail } = this.#deps
    if (route !== 'local') return mailTransport.send(message, signal)
    const { siteId, messageId, siteDomain: domain, from, to, mime, outcome } = message
    const key = `${siteId} ${messageId}`
    await localMail().deliver({ key, domain, from, to, mime, outcome })
  }
}
