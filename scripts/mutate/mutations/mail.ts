import { type Mutation, faultsOf } from '#scripts/mutate/mutation.ts'

const of = faultsOf('mail')

const ACCEPTANCE = 'src/mail/inbound/acceptance.ts'
const ACCEPTANCE_TEST = ['src/mail/inbound/acceptance.test.ts']
const LIMITS = 'src/platform/rate-limits/rate-limits.ts'
const LIMITS_TEST = ['src/mail/sending/sending-limits.test.ts']

/** Retries, duplicates, limits and headers of mail. */
export const MAIL: readonly Mutation[] = [
  of(
    'addresses with blanks',
    [
      'src/platform/smtp/mail-address.ts',
      '|| BLANK.test(address)) return undefined',
      ') return undefined',
    ],
    'an address brings a header of its own',
    ['src/platform/smtp/mail-address.test.ts'],
  ),
  of(
    'addresses that are several',
    [
      'src/mail/outbound/compose.ts',
      'if (envelopeAddress(address) === undefined) {',
      "if (address === '') {",
    ],
    'a form sends mail to any address that it names',
    ['src/mail/outbound/compose.test.ts'],
  ),
  of(
    'bare line ends',
    [
      'src/mail/outbound/compose.ts',
      "text.replaceAll(/\\r\\n?/g, '\\n')",
      "text.replaceAll(/\\r\\n/g, '\\n')",
    ],
    'a text ends its message and begins another',
    ['src/mail/outbound/compose.test.ts'],
  ),
  of(
    'messages that a batch does not count',
    [ACCEPTANCE, '      room.messages -= 1\n', ''],
    'a crowd fills a mailbox beyond its quota',
    ACCEPTANCE_TEST,
  ),
  of(
    'bytes that a batch does not count',
    [ACCEPTANCE, '      room.bytes -= sizeBytes\n', ''],
    'a crowd fills a mailbox beyond its quota',
    ACCEPTANCE_TEST,
  ),
  of(
    'the same message twice in a batch',
    [ACCEPTANCE, '    this.#accepted.add(keyText(message))\n', ''],
    'a message is there twice',
    ACCEPTANCE_TEST,
  ),
  of(
    'a message that came before',
    [ACCEPTANCE, '!this.#accepted.has(keyText(message))', "!this.#accepted.has('')"],
    'a message is there once for each try',
    ACCEPTANCE_TEST,
  ),
  of(
    'no limit for a site',
    [LIMITS, 'most: 600', 'most: 60_000'],
    'one site spoils the name of the server',
    LIMITS_TEST,
  ),
  of(
    'no limit for a mailbox',
    [LIMITS, 'most: 120', 'most: 12_000'],
    'one stolen password sends for the whole site',
    LIMITS_TEST,
  ),
  of(
    'a refused message that is tried again',
    [
      'src/mail/sending/deliveries.ts',
      'if (error instanceof MailRefused || attempts >= MAX_TRIES)',
      'if (attempts >= MAX_TRIES)',
    ],
    'a gateway that said no is asked for two days',
    ['test/mail/delivery-limits.test.ts'],
  ),
  of(
    'a refused message of the service that is tried again',
    [
      'src/mail/outbound/outbound-messages.ts',
      'if (error instanceof MailRefused || attempts >= MAX_TRIES)',
      'if (attempts >= MAX_TRIES)',
    ],
    'a gateway that said no is asked for two days',
    ['test/mail/delivery.test.ts'],
  ),
  of(
    'eight messages of one domain',
    ['src/mail/routing/outgoing-places.ts', 'const PER_DOMAIN = 2\n', 'const PER_DOMAIN = 8\n'],
    'a domain that does not answer stops the mail of all',
    ['src/mail/routing/outgoing-places.test.ts'],
  ),
  of(
    'bounces of any sender',
    [
      'src/mail/forwarding/srs.ts',
      "  if (!isHash(hash, hashOf(key, time, domain, local))) return { fault: 'forged' }\n",
      '',
    ],
    'the server passes on mail to anywhere',
    ['src/mail/forwarding/srs.test.ts'],
  ),
  of(
    'any number of connections of a network',
    [
      'src/mail/inbound/gate.ts',
      'if (open >= this.#limits.connectionsPerNetwork)',
      'if (open < 0 * this.#limits.connectionsPerNetwork)',
    ],
    'one network takes all connections',
    ['test/mail/inbound-limits.test.ts'],
  ),
]
