import { type ExpectedMail, type Sample, mail, sample } from './sample.ts'

const daemon = (subject: string, body: string, fields: readonly string[] = []): string =>
  mail(fields, body).replace(
    'From: Eve <eve@else.test>',
    `From: Mail Delivery System <MAILER-DAEMON@mx.test>\r\nSubject: ${subject}`,
  )

const ORIGINAL = 'Message-ID: <sent.1@one.test>\r\nSubject: hello'
const FIELDS = 'Reporting-MTA: dns; mx.test'
const FAILED =
  'Final-Recipient: rfc822; Bob@Gone.test\r\nAction: failed\r\nStatus: 5.1.1\r\nDiagnostic-Code: smtp; 550 5.1.1 user\r\n unknown'

const report = (
  recipient: string,
  returned = 'text/rfc822-headers',
  type = 'message/delivery-status',
): string =>
  daemon(
    'Undelivered Mail Returned to Sender',
    [
      '--r',
      'Content-Type: text/plain',
      '',
      'This is the mail system at host mx.test.',
      '--r',
      `Content-Type: ${type}`,
      '',
      FIELDS,
      '',
      recipient,
      '',
      '--r',
      `Content-Type: ${returned}`,
      '',
      ORIGINAL,
      '',
      '--r--',
    ].join('\r\n'),
    [
      'Auto-Submitted: auto-replied',
      'Content-Type: multipart/report; report-type=delivery-status; boundary=r',
    ],
  )

const bob = { recipient: 'bob@gone.test', originalMessageId: 'sent.1@one.test' }
const bounce = (
  name: string,
  message: string,
  expected: NonNullable<ExpectedMail['bounce']>,
): Sample => sample(name, message, { bounce: expected })
const none = (name: string, message: string): Sample => sample(name, message, { bounce: null })

/** What comes back when a message does not arrive, and what only looks like it. */
export const BOUNCES: readonly Sample[] = [
  bounce('a notification of Postfix', report(FAILED), {
    ...bob,
    kind: 'failed',
    status: '5.1.1',
    action: 'failed',
    diagnostic: '550 5.1.1 user unknown',
  }),
  bounce('a notification with the whole message', report(FAILED, 'message/rfc822'), {
    ...bob,
    kind: 'failed',
  }),
  bounce(
    'a notification in UTF-8',
    report(FAILED, 'message/global-headers', 'message/global-delivery-status'),
    {
      ...bob,
      kind: 'failed',
    },
  ),
  bounce('a delay', report(FAILED.replace('failed', 'delayed').replaceAll('5.1.1', '4.4.1')), {
    kind: 'delayed',
    status: '4.4.1',
    action: 'delayed',
  }),
  bounce('a delivery', report(FAILED.replace('failed', 'delivered').replaceAll('5.1.1', '2.1.5')), {
    kind: 'delivered',
    status: '2.1.5',
  }),
  bounce(
    'a failure among deliveries',
    report(
      `Final-Recipient: rfc822; ok@gone.test\r\nAction: relayed\r\nStatus: 2.0.0\r\n\r\n${FAILED}`,
    ),
    { ...bob, kind: 'failed' },
  ),
  bounce('a recipient without a type', report(FAILED.replace('rfc822; ', '')), bob),
  bounce('a notification without an action', report(FAILED.replace('Action: failed\r\n', '')), {
    kind: 'failed',
    action: null,
  }),
  bounce(
    'qmail',
    daemon(
      'failure notice',
      `Hi. This is the qmail-send program at mx.test.\r\n\r\n<bob@gone.test>:\r\n192.0.2.1 does not like recipient.\r\nRemote host said: 550 5.1.1 no such user\r\n\r\n--- Below this line is a copy of the message.\r\n\r\n${ORIGINAL}`,
    ),
    {
      ...bob,
      kind: 'failed',
      status: '5.1.1',
      diagnostic: 'Remote host said: 550 5.1.1 no such user',
    },
  ),
  bounce(
    'Exim',
    daemon(
      'Mail delivery failed: returning message to sender',
      `This message was created automatically by mail delivery software.\r\n\r\n  bob@gone.test\r\n    SMTP error from remote mail server: 550 no such user\r\n\r\n${ORIGINAL}`,
      ['X-Failed-Recipients: bob@gone.test'],
    ),
    { ...bob, kind: 'failed', status: '5.0.0' },
  ),
  bounce(
    'a delay of Exim',
    daemon(
      'Warning: message 1abc delayed 24 hours',
      `This message was created automatically by mail delivery software.\r\nA message that you sent has not yet been delivered to:\r\n\r\n  bob@gone.test\r\n\r\n${ORIGINAL}`,
    ),
    { ...bob, kind: 'delayed', status: null },
  ),
  bounce(
    'Exchange',
    daemon(
      'Undeliverable: hello',
      `Your message did not reach some or all of the intended recipients.\r\n\r\nbob@gone.test\r\n#550 5.1.10 RESOLVER.ADR.RecipientNotFound ##\r\n\r\n${ORIGINAL}`,
    ).replace('MAILER-DAEMON', 'postmaster'),
    { ...bob, kind: 'failed', status: '5.1.10' },
  ),
  bounce(
    'Gmail',
    daemon(
      'Delivery Status Notification (Failure)',
      `** Address not found **\r\n\r\nYour message wasn't delivered to bob@gone.test because the address couldn't be found.\r\n\r\n550 5.1.1 The email account does not exist.\r\n\r\n${ORIGINAL}`,
      ['X-Failed-Recipients: bob@gone.test'],
    ),
    { ...bob, kind: 'failed', status: '5.1.1' },
  ),
  bounce(
    'a recipient in the return path',
    daemon('Undelivered', 'The user is unknown: 550 no', []).replace(
      'To: hello@one.test',
      'To: bounces+bob=gone.test@one.test',
    ),
    { recipient: 'bob@gone.test' },
  ),
  bounce(
    'an answer of a program',
    mail(
      [
        'Subject: Re: hello',
        'Auto-Submitted: auto-replied (vacation)',
        'In-Reply-To: <sent.1@one.test>',
      ],
      'away',
    ),
    {
      kind: 'autoReply',
      recipient: 'eve@else.test',
      originalMessageId: 'sent.1@one.test',
    },
  ),
  bounce(
    'an answer of an older program',
    mail(['Subject: Out of Office: hello', 'X-Autoreply: yes'], 'away'),
    {
      kind: 'autoReply',
    },
  ),
  bounce('an answer known by its subject', mail(['Subject: Automatic reply: hello'], 'away'), {
    kind: 'autoReply',
  }),
  none(
    'what a program sent by itself',
    mail(['Subject: weekly', 'Auto-Submitted: auto-generated'], 'news'),
  ),
  none(
    'a person who writes of a failure',
    mail(['Subject: Undeliverable again?'], 'my mail could not be delivered'),
  ),
  none('a postmaster who writes', daemon('Maintenance on Sunday', 'We move to a new server.')),
]
