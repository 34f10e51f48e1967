import { type Static, Type } from '@sinclair/typebox'

import { MailFinding } from '#mail/verification/model.ts'

import { type LaunchStep, type LaunchTarget, type MailDepth, wrong } from './launch-target.ts'
import { sitePath } from './service-client.ts'

const SHOWN = 5
/** A million messages take the database seconds, and a page of long ones the disk. */
const PATIENCE_MS = 300_000

const Findings = Type.Object({ checked: Type.Integer(), findings: Type.Array(MailFinding) })
const FindingsPage = Type.Composite([
  Findings,
  Type.Object({ nextToken: Type.Union([Type.String(), Type.Null()]) }),
])

/** Compares a site's stored mail with what is known of it, as deep as asked for. */
export const mailSteps = (depth: MailDepth): readonly LaunchStep[] =>
  depth === 'rows'
    ? [['mail rows', checkRows]]
    : [
        ['mail rows', checkRows],
        ['mail messages', checkMessages],
        ['mail objects', checkObjects],
      ]

async function checkRows({ service, site }: LaunchTarget): Promise<string> {
  const path = sitePath(site.siteId, '/mail-verification/rows')
  const { checked, findings } = await service.portalAs(Findings, 'GET', path, {
    timeoutMs: PATIENCE_MS,
  })
  if (findings.length > 0) throw wrong(wordsOf(findings))
  return `${counted(checked, 'mailbox', 'mailboxes')}, counted right`
}

async function checkMessages(target: LaunchTarget): Promise<string> {
  const isReading = target.mail === 'bytes'
  const { checked, findings } = await readAll(
    target,
    'messages',
    isReading ? { bytes: 'true' } : {},
  )
  if (findings.length > 0) throw wrong(wordsOf(findings))
  const how = isReading ? 'each byte as it came' : 'as long as they came'
  return `${counted(checked, 'message', 'messages')}, ${how}`
}

/** Bytes of no message are no fault: a service that is killed in the middle leaves some. */
async function checkObjects(target: LaunchTarget): Promise<string> {
  const { checked, findings } = await readAll(target, 'objects', {})
  const objects = counted(checked, 'object', 'objects')
  return findings.length === 0
    ? objects
    : `${objects}; the next sweep removes what is no message’s: ${wordsOf(findings)}`
}

async function readAll(
  { service, site, progress }: LaunchTarget,
  part: 'messages' | 'objects',
  query: Readonly<Record<string, string>>,
): Promise<Static<typeof Findings>> {
  const findings: MailFinding[] = []
  let checked = 0
  for (let next: string | null = ''; next !== null;) {
    const token = next === '' ? {} : { nextToken: next }
    const search: string = new URLSearchParams({ ...query, ...token }).toString()
    const path = sitePath(site.siteId, `/mail-verification/${part}?${search}`)
    const page: Static<typeof FindingsPage> = await service.portalAs(FindingsPage, 'GET', path, {
      timeoutMs: PATIENCE_MS,
    })
    checked += page.checked
    findings.push(...page.findings)
    next = page.nextToken
    if (next !== null) progress(`mail ${part}: ${checked} looked at…`)
  }
  return { checked, findings }
}

function wordsOf(findings: readonly MailFinding[]): string {
  const shown = findings.slice(0, SHOWN).map(({ detail }) => detail)
  const more = findings.length - shown.length
  return [...shown, ...(more === 0 ? [] : [`and ${more} more`])].join('; ')
}

const counted = (count: number, one: string, several: string): string =>
  `${count} ${count === 1 ? one : several}`
