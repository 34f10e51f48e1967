import { Type } from '@sinclair/typebox'

import { CapturedMessage } from '#platform/smtp/outbox.ts'

import type { Command } from './command.ts'
import { expectShape } from './shape.ts'

const SHOWN = 25

const OutboxPage = Type.Object({
  items: Type.Array(CapturedMessage),
  nextToken: Type.Union([Type.String(), Type.Null()]),
})

export const outbox: Command = {
  name: 'outbox',
  summary: `The last ${SHOWN} messages that were kept here because no SMTP_URL is set; the newest comes last`,
  usage: '[--to EMAIL] [--site DOMAIN]',
  options: { to: { type: 'string' }, site: { type: 'string' } },
  async run({ args, service }) {
    const query = new URLSearchParams({ limit: String(SHOWN) })
    for (const name of ['to', 'site']) {
      const value = args.text(name)
      if (value !== undefined) query.set(name, value)
    }
    const path = `/outbox?${query.toString()}`
    const page = expectShape(OutboxPage, await service.portal('GET', path))
    const texts = page.items.toReversed().map(messageText)
    return {
      json: page,
      text: texts.length === 0 ? 'No such message is kept here' : texts.join('\n\n'),
    }
  },
}

function messageText(message: CapturedMessage): string {
  const { createdAt, siteDomain, kind, to, subject, text } = message
  const lines = [`${createdAt}  ${siteDomain}  ${kind}  to ${to}`, subject, '', ...text.split('\n')]
  return lines.map((line, at) => `${at === 0 ? '' : '  '}${printable(line)}`.trimEnd()).join('\n')
}

/** Without what a terminal would obey. */
const printable = (line: string): string => line.replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
