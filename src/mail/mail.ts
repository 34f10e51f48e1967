import type { Config } from '#config/config.ts'
import type { Identity } from '#identity/identity.ts'
import type { NewKeyPair } from '#identity/keys/key-pair.ts'
import type { DnsResolver } from '#platform/dns/dns-resolver.ts'
import type { MailParser } from '#platform/mail-parser/mail-parser.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import { CountedTransport } from '#platform/smtp/counted-transport.ts'
import type { MailTransport } from '#platform/smtp/mail-transport.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

import { MailAddresses } from './addresses/service.ts'
import { Aliases } from './aliases/service.ts'
import { ContactRecipients } from './contact/recipients.ts'
import { ContactForm } from './contact/service.ts'
import { DkimKeys } from './dkim/keys.ts'
import type { DkimKey } from './dkim/model.ts'
import { DkimSigner } from './dkim/signer.ts'
import { SiteDnsRecords, isDkimPublished } from './dns-records/service.ts'
import { type ForwarderServices, openForwarder } from './forwarding/open-forwarder.ts'
import { type ForwardingServices, openForwarding } from './forwarding/open-forwarding.ts'
import { isReturnPath } from './forwarding/srs.ts'
import { Arrivals, type ArrivalsDeps } from './inbound/arrivals.ts'
import type { LocalMail } from './inbound/local-mail.ts'
import { type InboundServices, type OpenInboundDeps, openInbound } from './inbound/open-inbound.ts'
import { MailboxChanges } from './mailboxes/mailbox-changes.ts'
import { MailboxOwners } from './mailboxes/owners.ts'
import { MailboxPreferences } from './mailboxes/preferences.ts'
import { MailboxReports } from './mailboxes/reports.ts'
import { Mailboxes, type MailboxesDeps } from './mailboxes/service.ts'
import { type MessageServices, openMessages } from './messages/open-messages.ts'
import { DeliveryNotices } from './notices/service.ts'
import { OutboundMessages } from './outbound/service.ts'
import { SiteMessages } from './outbound/site-messages.ts'
import { Accepting } from './parsing/accepting.ts'
import { MailParsing, type MailParsingDeps, PARSING_PLACES } from './parsing/service.ts'
import { MailQuotas } from './quotas/service.ts'
import { Recipients } from './recipients/service.ts'
import { type RemovalServices, openRemoval } from './removal/open-removal.ts'
import { MailReparsing, type MailReparsingDeps } from './reparsing/service.ts'
import { MailRouter } from './routing/mail-router.ts'
import { OUTGOING_PLACES } from './routing/outgoing-places.ts'
import { type SendingServices, openSending } from './sending/open-sending.ts'
import { RecipientQueue } from './sending/recipient-queue.ts'
import { SiteSender } from './sending/site-sender.ts'
import { type SubmissionServices, openSubmission } from './submission/open-submission.ts'
import type { SubmissionMailDeps } from './submission/service.ts'
import { MailVerification } from './verification/service.ts'

export interface MailDeps extends PlatformServices {
  readonly config: Config
  readonly counters: Counters
  readonly dns: DnsResolver
  readonly siteByHost: SubmissionMailDeps['siteByDomain']
  readonly sealer: Sealer
  readonly siteKeys: SiteKeys
  readonly mailTransport: MailTransport
  readonly mailParser: MailParser
  readonly loneMailParser: MailParser
  /** Gives a new DKIM key; generated when left out. */
  readonly newKeyPair?: () => Promise<NewKeyPair>
  /** Rejects with `SiteNotFound` when the site is gone. */
  readonly siteOf: (siteId: string) => Promise<Site>
  /** Is asked only once mail is open: identity itself sends mail. */
  readonly identity: () => Pick<Identity, 'adminUsers' | 'securityEvents'>
}

/** The mail half of the service, its workers behind their queues. */
export interface Mail
  extends
    MailboxServices,
    MessageServices,
    ParsingServices,
    RemovalServices,
    SendingServices,
    SigningServices,
    ForwardingServices,
    SubmissionServices {
  /** What all mail goes out by. */
  readonly outgoingTransport: CountedTransport
  readonly outboundMessages: OutboundMessages
  readonly siteMessages: SiteMessages
  readonly siteSender: SiteSender
  readonly contactForm: ContactForm
  readonly mailVerification: MailVerification
  readonly smtp: InboundServices['smtp']
}

interface ParsingServices {
  readonly mailParsing: MailParsing
  readonly mailReparsing: MailReparsing
}

interface SigningServices {
  readonly dkimKeys: DkimKeys
  readonly dkimSigner: DkimSigner
  readonly siteDnsRecords: SiteDnsRecords
}

interface MailboxServices {
  readonly mailboxes: Mailboxes
  readonly mailboxOwners: MailboxOwners
  readonly mailboxPreferences: MailboxPreferences
  readonly mailboxReports: MailboxReports
  readonly mailQuotas: MailQuotas
  readonly aliases: Aliases
  readonly contactRecipients: ContactRecipients
  readonly recipients: Recipients
}

/** Listens for changes that other replicas make. */
export async function openMail(given: MailDeps): Promise<Mail> {
  const { outgoingTransport, ...routing } = openRouting(given, () => inbound.localMail)
  const deps = { ...given, ...routing }
  const events: MailEvents = {
    record: (...event) => deps.identity().securityEvents.record(...event),
  }
  const signing = openSigning({ ...deps, events })
  const outboundMessages = openOutbound({ ...deps, ...signing })
  const mailboxServices = openMailboxes({
    ...deps,
    events,
    stopForwarding: (...stopped) => forwardingServices.forwarding.stop(...stopped),
  })
  const messageServices = await openMessages(deps)
  const accepting = new Accepting()
  const parsing = openParsing({ ...deps, accepting, events }, (...bounce) =>
    sendingServices.bounces.note(...bounce),
  )
  const { mailParsing } = parsing
  const removalServices = openRemoval({ ...deps, ...parsing, events })
  const recipientQueue = new RecipientQueue(deps)
  const forwarderServices = openForwarder({
    ...deps,
    ...signing,
    ...removalServices,
    recipientQueue,
    routesOf: (tx, mailboxIds) => forwardingServices.forwarding.routes(tx, mailboxIds),
  })
  const arrivals = openArrivals({ ...deps, ...forwarderServices, mailParsing })
  const parts = { ...mailboxServices, ...messageServices, ...removalServices }
  const sendingServices = openSending({
    ...deps,
    ...parts,
    ...signing,
    arrivals,
    mailParsing,
    recipientQueue,
    forms: forwarderServices.forms,
    events,
  })
  const sending = { ...deps, ...mailboxServices, ...sendingServices, outboundMessages, events }
  const forwardingServices = openForwardingSettings(sending)
  handleNotices({ ...sending, arrivals, mailParsing })
  const inbound = await openReceiving({ ...sending, ...forwarderServices, arrivals, accepting })
  return {
    ...signing,
    outgoingTransport,
    outboundMessages,
    siteMessages: new SiteMessages({ ...deps, outboundMessages }),
    siteSender: new SiteSender({ ...deps, ...sendingServices }),
    contactForm: new ContactForm({ ...deps, outboundMessages }),
    ...parsing,
    mailVerification: new MailVerification(deps),
    ...parts,
    ...sendingServices,
    ...forwardingServices,
    ...openSubmissionPort(sending),
    smtp: inbound.smtp,
  }
}

function openSigning(deps: MailDeps & { readonly events: MailEvents }): SigningServices {
  const { dns, config } = deps
  const isPublished = (key: DkimKey) => isDkimPublished(dns, key)
  const dkimKeys = new DkimKeys({ ...deps, isPublished })
  return {
    dkimKeys,
    dkimSigner: new DkimSigner(dkimKeys),
    siteDnsRecords: new SiteDnsRecords({ dns, dkimKeys, ...config.mail }),
  }
}

function handleNotices(
  deps: MailDeps &
    SendingServices & { readonly arrivals: Arrivals; readonly mailParsing: MailParsing },
): void {
  const notices = new DeliveryNotices({ ...deps, hostname: deps.config.mail.smtpHostname })
  deps.queue.handle('delivery-notice', (job) => notices.run(job))
}

function openForwardingSettings(
  deps: MailDeps &
    MailboxServices &
    SendingServices & { readonly outboundMessages: OutboundMessages; readonly events: MailEvents },
): ForwardingServices {
  return openForwarding({
    ...deps,
    addresses: new MailAddresses(deps),
    baseUrl: deps.config.baseUrl,
    suppressed: (...asked) => deps.suppressions.among(...asked),
  })
}

function openSubmissionPort(
  deps: MailDeps & MailboxServices & SendingServices & { readonly events: MailEvents },
): SubmissionServices {
  const { mail: config, dataDir } = deps.config
  return openSubmission({
    ...deps,
    config,
    dataDir,
    addresses: new MailAddresses(deps),
    siteByDomain: deps.siteByHost,
  })
}

function openOutbound(
  deps: MailDeps & RoutingParts & Pick<SigningServices, 'dkimSigner'>,
): OutboundMessages {
  const messages = new OutboundMessages(deps)
  for (const name of ['outbound-mail', 'site-mail'] as const) {
    deps.queue.handle(name, (job, signal) => messages.run(job, signal), OUTGOING_PLACES[name])
  }
  return messages
}

function openParsing(
  deps: MailDeps & Pick<MailReparsingDeps, 'events'> & { readonly accepting: Accepting },
  noteBounce: MailParsingDeps['noteBounce'],
): ParsingServices {
  const parsing = new MailParsing({ ...deps, noteBounce })
  deps.queue.handle('mail-parse', (job, signal) => parsing.run(job, signal), {
    ...PARSING_PLACES,
    givenUp: parsing.givenUp,
  })
  const { large } = parsing
  deps.queue.handle('large-mail-parse', (job, signal) => large.run(job, signal), {
    // A site's message is parsed by one process at a time, of all replicas.
    perSite: 1,
    givenUp: large.givenUp,
  })
  return { mailParsing: parsing, mailReparsing: openReparsing(deps) }
}

function openReparsing(
  deps: MailDeps & Pick<MailReparsingDeps, 'accepting' | 'events'>,
): MailReparsing {
  const reparsing = new MailReparsing(deps)
  deps.queue.handle('mail-reparse', (job, signal) => reparsing.run(job, signal), {
    // One in each process; what is there can wait.
    perSite: 1,
    givenUp: reparsing.givenUp,
  })
  return reparsing
}

const openArrivals = ({ forwarder, ...deps }: Omit<ArrivalsDeps, 'forward'> & ForwarderServices) =>
  new Arrivals({ ...deps, forward: (tx, messages) => forwarder.forward(tx, messages) })

interface RoutingParts {
  readonly mailRouter: MailRouter
  /** The server's own name. */
  readonly hostname: string
}

function openRouting(
  { config, mailTransport }: MailDeps,
  localMail: () => LocalMail,
): RoutingParts & Pick<Mail, 'outgoingTransport'> {
  const outgoingTransport = new CountedTransport(mailTransport)
  const mailRouter = new MailRouter({ mailTransport: outgoingTransport, localMail })
  return { outgoingTransport, mailRouter, hostname: config.mail.smtpHostname }
}

interface OpenReceivingDeps
  extends
    MailDeps,
    RoutingParts,
    ForwarderServices,
    Pick<OpenInboundDeps, 'recipients' | 'arrivals' | 'accepting'> {}

const openReceiving = (deps: OpenReceivingDeps): Promise<InboundServices> =>
  openInbound({
    ...deps,
    hasGateway: deps.mailRouter.hasGateway,
    isReturnPath,
    returnPath: (...path) => deps.returnPaths.reverse(...path),
    returnBounce: (...bounce) => deps.returnedBounces.accept(...bounce),
  })

type MailEvents = Pick<Identity['securityEvents'], 'record'>

interface OpenMailboxesDeps extends MailDeps, Pick<MailboxesDeps, 'stopForwarding'> {
  readonly events: MailEvents
}

function openMailboxes(deps: OpenMailboxesDeps): MailboxServices {
  const { identity } = deps
  const shared = { ...deps, addresses: new MailAddresses(deps) }
  const ownerDirectory = {
    holdUsers: (...names: Parameters<Identity['adminUsers']['holdUsers']>) =>
      identity().adminUsers.holdUsers(...names),
  }
  const mailboxChanges = new MailboxChanges({ ...shared, ownerDirectory })
  const mailboxes = new Mailboxes({
    ...shared,
    mailboxChanges,
    forgetTarget: (tx, site, removed) => aliases.forgetTarget(tx, site, removed),
  })
  const aliases = new Aliases({ ...shared, mailboxes })
  return {
    mailboxes,
    mailboxOwners: new MailboxOwners({ ...shared, mailboxChanges }),
    mailboxPreferences: new MailboxPreferences({ ...shared, mailboxes, mailboxChanges }),
    mailboxReports: new MailboxReports(deps),
    mailQuotas: new MailQuotas(deps),
    aliases,
    contactRecipients: new ContactRecipients(deps),
    recipients: new Recipients(deps),
  }
}
