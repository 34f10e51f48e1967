import type { Config } from '#config/config.ts'
import type { Identity } from '#identity/identity.ts'
import type { NewKeyPair } from '#identity/keys/key-pair.ts'
import type { DnsResolver } from '#platform/dns/dns-resolver.ts'
import type { MailParser } from '#platform/mail-parser/mail-parser.ts'
import { RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import { SmtpListener } from '#platform/smtp-server/smtp-listener.ts'
import { CountedTransport } from '#platform/smtp/counted-transport.ts'
import type { MailTransport } from '#platform/smtp/mail-transport.ts'
import { IdempotentAnswers } from '#sites/idempotency/idempotent-answers.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

import { MailAddresses } from './addresses/mail-addresses.ts'
import { Aliases } from './aliases/aliases.ts'
import { MailboxStreams } from './changes/streams.ts'
import { ContactForm } from './contact/contact-form.ts'
import { ContactRecipients } from './contact/recipients.ts'
import { DkimKeys } from './dkim/keys.ts'
import type { DkimKey } from './dkim/model.ts'
import { DkimSigner } from './dkim/signer.ts'
import { SiteDnsRecords, isDkimPublished } from './dns-records/site-dns-records.ts'
import { Forwarder, type ForwarderDeps } from './forwarding/forwarder.ts'
import { Forwarding } from './forwarding/forwarding.ts'
import { OwnAddresses } from './forwarding/own-addresses.ts'
import { ReturnPaths } from './forwarding/return-paths.ts'
import { ReturnedBounces } from './forwarding/returned-bounces.ts'
import { isReturnPath } from './forwarding/srs.ts'
import { ForwardingTargets } from './forwarding/targets.ts'
import { ForwardingVerifications } from './forwarding/verifications.ts'
import { InboundGate } from './inbound/gate.ts'
import { InboundDeliveries } from './inbound/inbound-deliveries.ts'
import { InboundMail } from './inbound/inbound-mail.ts'
import { LocalMail } from './inbound/local-mail.ts'
import { MessageStore } from './inbound/message-store.ts'
import { RecipientLookup } from './inbound/recipient-lookup.ts'
import { MailboxChanges } from './mailboxes/mailbox-changes.ts'
import { Mailboxes, type MailboxesDeps } from './mailboxes/mailboxes.ts'
import { MailboxOwners } from './mailboxes/owners.ts'
import { MailboxPreferences } from './mailboxes/preferences.ts'
import { MailboxReports } from './mailboxes/reports.ts'
import { MessageChanges } from './messages/message-changes.ts'
import { Messages } from './messages/messages.ts'
import { DeliveryNotices } from './notices/delivery-notices.ts'
import { OutboundMessages } from './outbound/outbound-messages.ts'
import { SiteMessages } from './outbound/site-messages.ts'
import { Accepting } from './parsing/accepting.ts'
import { MailParsing, type MailParsingDeps, PARSING_PLACES } from './parsing/mail-parsing.ts'
import { MailQuotas } from './quotas/mail-quotas.ts'
import { Recipients } from './recipients/recipients.ts'
import { MailTransfer } from './removal/mail-transfer.ts'
import { MailPurge } from './removal/purge.ts'
import { MailRemoval } from './removal/removal.ts'
import { MailReparsing } from './reparsing/mail-reparsing.ts'
import { MailRouter } from './routing/mail-router.ts'
import { OUTGOING_PLACES } from './routing/outgoing-places.ts'
import { Bounces } from './sending/bounces.ts'
import { Deliveries, type PassedOnForms } from './sending/deliveries.ts'
import { MAX_MESSAGE_BYTES } from './sending/model.ts'
import { OutgoingMail } from './sending/outgoing.ts'
import { RecipientQueue } from './sending/recipient-queue.ts'
import { SenderAccess } from './sending/sender-access.ts'
import { Sending } from './sending/sending.ts'
import { SiteSender } from './sending/site-sender.ts'
import { StagedAttachments } from './sending/staged-attachments.ts'
import { Suppressions } from './sending/suppressions.ts'
import { SubmissionCredentials } from './submission/credentials.ts'
import { SubmissionMail, type SubmissionMailDeps } from './submission/submission-mail.ts'
import { MailVerification } from './verification/mail-verification.ts'

/** Sites whose mail is removed at once. */
const REMOVAL_WORKERS = 2

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
  readonly messages: Messages
  readonly messageChanges: MessageChanges
  readonly mailboxStreams: MailboxStreams
  /** Takes mail from other servers once it is started. */
  readonly smtp: SmtpListener
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

interface ParsingServices {
  readonly mailParsing: MailParsing
  readonly mailReparsing: MailReparsing
}

interface RemovalServices {
  readonly mailPurge: MailPurge
  readonly mailRemoval: MailRemoval
  readonly mailTransfer: MailTransfer
}

interface SendingServices {
  readonly sending: Sending
  readonly stagedAttachments: StagedAttachments
  readonly suppressions: Suppressions
  readonly bounces: Bounces
  /** For those who hand messages in by other ways. */
  readonly outgoing: OutgoingMail
  readonly senderAccess: SenderAccess
}

interface SigningServices {
  readonly dkimKeys: DkimKeys
  readonly dkimSigner: DkimSigner
  readonly siteDnsRecords: SiteDnsRecords
}

interface ForwardingServices {
  readonly forwarding: Forwarding
  readonly forwardingTargets: ForwardingTargets
  readonly forwardingVerifications: ForwardingVerifications
}

interface InboundServices {
  readonly smtp: SmtpListener
  readonly localMail: LocalMail
}

interface SubmissionServices {
  /** Takes mail from mail programs once it is started. */
  readonly submission: SmtpListener
  readonly submissionCredentials: SubmissionCredentials
}

/** What each part of mail is given. */
interface MailCore extends MailDeps {
  readonly mailRouter: MailRouter
  /** The server's own name. */
  readonly hostname: string
  readonly addresses: MailAddresses
  readonly events: Pick<Identity['securityEvents'], 'record'>
}

/** Listens for changes that other replicas make. */
export async function openMail(deps: MailDeps): Promise<Mail> {
  const outgoingTransport = new CountedTransport(deps.mailTransport)
  const localMail = () => inbound.localMail
  const core: MailCore = {
    ...deps,
    mailRouter: new MailRouter({ mailTransport: outgoingTransport, localMail }),
    hostname: deps.config.mail.smtpHostname,
    addresses: new MailAddresses(deps),
    events: { record: (...event) => deps.identity().securityEvents.record(...event) },
  }
  const signing = openSigning(core)
  const outboundMessages = openOutbound({ ...core, ...signing })
  const mailboxServices = openMailboxes(core, (...stopped) =>
    forwardingServices.forwarding.stop(...stopped),
  )
  const mailboxStreams = new MailboxStreams()
  await mailboxStreams.listen(deps.notifications)
  const messages = new Messages(core)
  const accepting = new Accepting()
  const noteBounce: MailParsingDeps['noteBounce'] = (...bounce) =>
    sendingServices.bounces.note(...bounce)
  const parsing = openParsing({ ...core, accepting, noteBounce })
  const removal = openRemoval({ ...core, ...parsing })
  const parts = { ...core, ...signing, ...mailboxServices, ...parsing, ...removal, messages }
  const passingOn = openPassingOn({
    ...parts,
    routesOf: (tx, mailboxIds) => forwardingServices.forwarding.routes(tx, mailboxIds),
  })
  const sendingServices = openSending({ ...parts, ...passingOn })
  const sending = { ...parts, ...passingOn, ...sendingServices, outboundMessages }
  const forwardingServices = openForwarding(sending)
  const notices = new DeliveryNotices(sending)
  deps.queue.handle('delivery-notice', (job) => notices.run(job))
  const inbound = await openInbound({ ...sending, accepting })
  return {
    ...signing,
    outgoingTransport,
    outboundMessages,
    siteMessages: new SiteMessages(sending),
    siteSender: new SiteSender(sending),
    contactForm: new ContactForm(sending),
    ...parsing,
    mailVerification: new MailVerification(core),
    ...mailboxServices,
    messages,
    messageChanges: new MessageChanges(core),
    mailboxStreams,
    ...removal,
    ...sendingServices,
    ...forwardingServices,
    ...openSubmission(sending),
    smtp: inbound.smtp,
  }
}

function openSigning(core: MailCore): SigningServices {
  const { dns, config } = core
  const isPublished = (key: DkimKey) => isDkimPublished(dns, key)
  const dkimKeys = new DkimKeys({ ...core, isPublished })
  return {
    dkimKeys,
    dkimSigner: new DkimSigner(dkimKeys),
    siteDnsRecords: new SiteDnsRecords({ dns, dkimKeys, ...config.mail }),
  }
}

function openOutbound(deps: MailCore & SigningServices): OutboundMessages {
  const messages = new OutboundMessages(deps)
  for (const name of ['outbound-mail', 'site-mail'] as const) {
    deps.queue.handle(name, (job, signal) => messages.run(job, signal), OUTGOING_PLACES[name])
  }
  return messages
}

function openMailboxes(
  core: MailCore,
  stopForwarding: MailboxesDeps['stopForwarding'],
): MailboxServices {
  const ownerDirectory = {
    holdUsers: (...names: Parameters<Identity['adminUsers']['holdUsers']>) =>
      core.identity().adminUsers.holdUsers(...names),
  }
  const mailboxChanges = new MailboxChanges({ ...core, ownerDirectory })
  const mailboxes = new Mailboxes({
    ...core,
    stopForwarding,
    mailboxChanges,
    forgetTarget: (tx, site, removed) => aliases.forgetTarget(tx, site, removed),
  })
  const aliases = new Aliases({ ...core, mailboxes })
  return {
    mailboxes,
    mailboxOwners: new MailboxOwners({ ...core, mailboxChanges }),
    mailboxPreferences: new MailboxPreferences({ ...core, mailboxes, mailboxChanges }),
    mailboxReports: new MailboxReports(core),
    mailQuotas: new MailQuotas(core),
    aliases,
    contactRecipients: new ContactRecipients(core),
    recipients: new Recipients(core),
  }
}

function openParsing(
  deps: MailCore & Pick<MailParsingDeps, 'noteBounce'> & { readonly accepting: Accepting },
): ParsingServices {
  const mailParsing = new MailParsing(deps)
  deps.queue.handle('mail-parse', (job, signal) => mailParsing.run(job, signal), {
    ...PARSING_PLACES,
    givenUp: mailParsing.givenUp,
  })
  const { large } = mailParsing
  deps.queue.handle('large-mail-parse', (job, signal) => large.run(job, signal), {
    // A site's message is parsed by one process at a time, of all replicas.
    perSite: 1,
    givenUp: large.givenUp,
  })
  const mailReparsing = new MailReparsing(deps)
  deps.queue.handle('mail-reparse', (job, signal) => mailReparsing.run(job, signal), {
    // One in each process; what is there can wait.
    perSite: 1,
    givenUp: mailReparsing.givenUp,
  })
  return { mailParsing, mailReparsing }
}

function openRemoval(deps: MailCore & ParsingServices): RemovalServices {
  const mailPurge = new MailPurge(deps)
  const mailRemoval = new MailRemoval({ ...deps, mailPurge })
  deps.queue.handle('mail-removal', (job, signal) => mailRemoval.run(job, signal), {
    concurrency: REMOVAL_WORKERS,
  })
  return { mailPurge, mailRemoval, mailTransfer: new MailTransfer(deps) }
}

/** Opens what sends mail on and handles its bounces: below what the owners of mailboxes set. */
function openPassingOn(
  deps: MailCore &
    SigningServices &
    ParsingServices &
    RemovalServices &
    Pick<ForwarderDeps, 'routesOf'>,
) {
  const recipientQueue = new RecipientQueue(deps)
  const returnPaths = new ReturnPaths(deps)
  const config = deps.config.mail
  const forwarder = new Forwarder({ ...deps, config, recipientQueue, returnPaths })
  const returnedBounces = new ReturnedBounces({ ...deps, recipientQueue })
  const forms: PassedOnForms = {
    forwarded: (...message) => forwarder.form(...message),
    returned: returnedBounces.form,
  }
  const inboundDeliveries = new InboundDeliveries({
    ...deps,
    forward: (tx, messages) => forwarder.forward(tx, messages),
  })
  return { recipientQueue, returnPaths, returnedBounces, forms, inboundDeliveries }
}

type PassingOn = ReturnType<typeof openPassingOn>

function openSending(
  given: MailCore &
    SigningServices &
    MailboxServices &
    ParsingServices &
    RemovalServices &
    PassingOn & { readonly messages: Messages },
): SendingServices {
  const suppressions = new Suppressions(given)
  const senderAccess = new SenderAccess(given)
  const outgoing = new OutgoingMail(given)
  const deps = { ...given, suppressions, senderAccess, outgoing }
  const deliveries = new Deliveries(deps)
  deps.queue.handle('mail-delivery', (job, signal) => deliveries.run(job, signal), {
    ...OUTGOING_PLACES['mail-delivery'],
    givenUp: deliveries.givenUp,
  })
  const stagedAttachments = new StagedAttachments(deps)
  const sending = new Sending({
    ...deps,
    stagedAttachments,
    idempotentAnswers: new IdempotentAnswers(deps),
    rateLimiter: new RateLimiter(deps),
  })
  const bounces = new Bounces(deps)
  return { sending, stagedAttachments, suppressions, bounces, outgoing, senderAccess }
}

function openForwarding(
  given: MailCore &
    MailboxServices &
    SendingServices & { readonly outboundMessages: OutboundMessages },
): ForwardingServices {
  const deps = { ...given, baseUrl: given.config.baseUrl }
  const forwardingVerifications = new ForwardingVerifications(deps)
  return {
    forwarding: new Forwarding(deps),
    forwardingTargets: new ForwardingTargets({
      ...deps,
      ownAddresses: new OwnAddresses(deps),
      verifications: forwardingVerifications,
      suppressed: (...asked) => deps.suppressions.among(...asked),
    }),
    forwardingVerifications,
  }
}

/** What takes mail: from other servers, and from the sites here, by the same rules. */
async function openInbound(
  given: MailCore & MailboxServices & PassingOn & { readonly accepting: Accepting },
): Promise<InboundServices> {
  const { dataDir, mail: config } = given.config
  const { smtpLimits: limits, smtpPort: port } = config
  const { messageBytes } = limits
  const deps = {
    ...given,
    config,
    siteByDomain: given.siteByHost,
    hasGateway: given.mailRouter.hasGateway,
    isReturnPath,
    returnBounce: (...bounce: Parameters<ReturnedBounces['accept']>) =>
      given.returnedBounces.accept(...bounce),
  }
  const lookup = new RecipientLookup({
    ...deps,
    returnPath: (...path) => deps.returnPaths.reverse(...path),
  })
  await lookup.listen(deps.notifications)
  const gate = new InboundGate({ ...deps, limits })
  const store = new MessageStore({ ...deps, maxBytes: messageBytes })
  const policy = new InboundMail({ ...deps, gate, lookup, store })
  return {
    smtp: new SmtpListener({ ...deps, name: 'smtp', port, messageBytes, dataDir, policy }),
    localMail: new LocalMail({ ...deps, gate, lookup, store }),
  }
}

function openSubmission(
  given: MailCore & MailboxServices & SendingServices & PassingOn,
): SubmissionServices {
  const { dataDir, mail: config } = given.config
  const deps = { ...given, config, siteByDomain: given.siteByHost }
  const submissionCredentials = new SubmissionCredentials(deps)
  const policy = new SubmissionMail({
    ...deps,
    credentials: submissionCredentials,
    gate: new InboundGate({ ...deps, limits: config.smtpLimits }),
    rateLimiter: new RateLimiter(deps),
  })
  const submission = new SmtpListener({
    ...deps,
    name: 'submission',
    port: config.submissionPort,
    messageBytes: MAX_MESSAGE_BYTES,
    dataDir,
    policy,
  })
  return { submission, submissionCredentials }
}
