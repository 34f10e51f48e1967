import { createHash } from 'node:crypto'

import type { ExpectedReading } from '#corpus/readings/reading.ts'

import { evenBlanks, type ShownAttachment, type ShownMail } from './shown-mail.ts'

/** What a file has to show, as it is kept beside it in `NAME.json`. */
export interface Expectation extends Omit<ExpectedReading, 'attachments'> {
  readonly attachments?: readonly (Partial<ShownAttachment> & { readonly filename: string })[]
}

export interface Difference {
  readonly field: string
  readonly expected: string
  readonly shown: string
}

export const expectationOf = ({ attachments, ...rest }: ExpectedReading): Expectation => ({
  ...rest,
  ...(attachments === undefined
    ? {}
    : {
        attachments: attachments.map(({ content, ...names }) => ({
          ...names,
          ...(content === undefined
            ? {}
            : {
                sizeBytes: content.length,
                sha256: createHash('sha256').update(content).digest('hex'),
              }),
        })),
      }),
})

/** In which of its fields a message is shown otherwise than its file says. */
export function differencesFrom(expected: Expectation, shown: ShownMail): Difference[] {
  const { text, html } = expected
  const is = (field: string, wanted: unknown, got: unknown): Difference[] => {
    const [one, other] = [JSON.stringify(wanted ?? null), JSON.stringify(got ?? null)]
    return one === other ? [] : [{ field, expected: one, shown: other }]
  }
  const { from } = expected
  return [
    ...is('parsed', undefined, shown.failed),
    ...(expected.subject === undefined ? [] : is('subject', expected.subject, shown.subject)),
    ...(from === undefined ? [] : authorDifferences(from, shown)),
    ...(expected.to === undefined ? [] : is('to', expected.to, shown.to)),
    ...(expected.cc === undefined ? [] : is('cc', expected.cc, shown.cc)),
    ...(text === undefined ? [] : is('text', evenBlanks(text), shown.text)),
    ...containedIn(expected, shown),
    ...(html === undefined ? [] : htmlDifferences(html, shown)),
    ...attachmentDifferences(expected, shown),
  ]
}

function authorDifferences(
  [name, address]: NonNullable<Expectation['from']>,
  { from }: ShownMail,
): Difference[] {
  const expected = JSON.stringify([name, address])
  const shown = JSON.stringify([name === null ? null : (from?.name ?? ''), from?.address ?? ''])
  return expected === shown ? [] : [{ field: 'from', expected, shown }]
}

function containedIn({ contains = [], lacks = [] }: Expectation, shown: ShownMail): Difference[] {
  let from = 0
  const missing = contains.filter((words) => {
    const at = shown.text.indexOf(evenBlanks(words), from)
    if (at >= 0) from = at
    return at < 0
  })
  const seen = lacks.filter(
    (words) => shown.text.includes(words) || (shown.html ?? '').includes(words),
  )
  return [
    ...missing.map((words) => ({ field: 'text', expected: words, shown: shown.text })),
    ...seen.map((words) => ({ field: 'text', expected: `not ${words}`, shown: shown.text })),
  ]
}

function htmlDifferences(expected: string | null, { html }: ShownMail): Difference[] {
  const isSame = expected === null ? html === null : html?.includes(evenBlanks(expected)) === true
  return isSame ? [] : [{ field: 'html', expected: String(expected), shown: String(html) }]
}

function attachmentDifferences({ attachments }: Expectation, shown: ShownMail): Difference[] {
  if (attachments === undefined) return []
  const names = attachments.map(({ filename }) => filename).join(', ')
  const found = shown.attachments.map(({ filename }) => filename).join(', ')
  if (names !== found) return [{ field: 'attachments', expected: names, shown: found }]
  return attachments.flatMap((attachment, at) => {
    const got = shown.attachments[at]
    return Object.entries(attachment).flatMap(([field, expected]) => {
      const value = { ...got }[field]
      if (value === expected) return []
      return [
        {
          field: `attachment ${field}`,
          expected: `${attachment.filename}: ${expected}`,
          shown: String(value),
        },
      ]
    })
  })
}
