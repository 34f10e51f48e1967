import { Type } from '@sinclair/typebox'

import { CapturedMessage } from '#platform/smtp/outbox.ts'

import { columns, printable } from './columns.ts'
import {
  type CliCommand,
  type CommandResult,
  type Invocation,
  flagOption,
  textOption,
} from './command.ts'
import { UsageError } from './errors.ts'
import { itemPage } from './list-command.ts'
import { sitePath } from './service-client.ts'

const SHOWN = 25

const OutboxPage = itemPage(CapturedMessage)

const FailedPage = Type.Object({
  items: Type.Array(
    Type.Object({
      kind: Type.String(),
      to: Type.String(),
      attempts: Type.Integer(),
      error: Type.Union([Type.String(), Type.Null()]),
      createdAt: Type.String(),
    }),
  ),
  nextToken: Type.Union([Type.String(), Type.Null()]),
})

export const outbox: CliCommand = {
  name: 'outbox',
  summary: `List the last ${SHOWN} messages that were kept here because no SMTP_URL is set, or those that failed; the newest comes last`,
  options: [
    textOption('--to <email>', 'only those to this address'),
    textOption('--site <domain>', 'only those of this site'),
    flagOption('--failed', 'the messages of a site that failed'),
  ],
  run: (call) => (call.args.flag('failed') ? givenUp(call) : kept(call)),
}

async function kept({ args, service }: Invocation): Promise<CommandResult> {
  const query = new URLSearchParams({ limit: String(SHOWN) })
  for (const name of ['to', 'site']) {
    const value = args.text(name)
    if (value !== undefined) query.set(name, value)
  }
  const path = `/outbox?${query.toString()}`
  const page = await service.portalAs(OutboxPage, 'GET', path)
  const texts = page.items.toReversed().map(messageText)
  return {
    json: page,
    text: texts.length === 0 ? 'No such message is kept here' : texts.join('\n\n'),
  }
}

async function givenUp({ args, service }: Invocation): Promise<CommandResult> {
  if (args.text('to') !== undefined) throw new UsageError('--failed and --to exclude each other')
  const path = `${sitePath(args.required('site'), '/failed-mail')}?limit=${SHOWN}`
  const page = await service.portalAs(FailedPage, 'GET', path)
  const rows = page.items
    .toReversed()
    .map(({ createdAt, kind, to, attempts, error }) =>
      [createdAt, kind, to, `${attempts} ${attempts === 1 ? 'try' : 'tries'}`, error ?? ''].map(
        printable,
      ),
    )
  return { json: page, text: rows.length === 0 ? 'No mail was given up' : columns(rows) }
}

function messageText(message: CapturedMessage): string {
  const { createdAt, siteDomain, kind, to, subject, text } = message
  const lines = [`${createdAt}  ${siteDomain}  ${kind}  to ${to}`, subject, '', ...text.split('\n')]
  return lines.map((line, at) => `${at === 0 ? '' : '  '}${printable(line)}`.trimEnd()).join('\n')
}
