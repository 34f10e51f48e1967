import { isIP } from 'node:net'

import type { DkimKey } from '#mail/dkim/model.ts'

import type { NeededRecord } from './model.ts'

const MX_PREFERENCE = 10

/** Mail for the domain comes to this server. */
export function mxRecord(domain: string, hostname: string): NeededRecord {
  const host = hostname.toLowerCase().replace(/\.$/, '')
  return {
    purpose: 'receiving',
    type: 'MX',
    name: domain,
    value: `${MX_PREFERENCE} ${host}`,
    note: isPublicName(host)
      ? null
      : `"${host}" is no name that other mail servers find: set SMTP_HOSTNAME`,
    isOfKind: () => true,
    satisfies: (found) => found.some((record) => record.split(' ')[1] === host),
  }
}

/** RFC 7208: who may send for the domain. What the gateway needs is what `SMTP_SPF` says. */
export function spfRecord(domain: string, mechanisms: readonly string[]): NeededRecord {
  const words = mechanisms.length === 0 ? ['mx'] : mechanisms
  return {
    purpose: 'SPF',
    type: 'TXT',
    name: domain,
    value: `v=spf1 ${words.join(' ')} ~all`,
    note:
      mechanisms.length === 0
        ? 'must include what the mail gateway tells its customers to include: set SMTP_SPF=include:… to have it here'
        : null,
    isOfKind: (found) => /^v=spf1(?: |$)/i.test(found),
    // More than one is a permanent error (RFC 7208 §4.5).
    satisfies: ([record = '', ...others]) =>
      others.length === 0 && words.every((word) => allows(record, word)),
  }
}

/** RFC 6376 §3.6.1. */
export const dkimRecord = ({ name, value, selector, state }: DkimKey): NeededRecord => ({
  purpose: 'DKIM',
  type: 'TXT',
  name,
  value,
  note: `${selector} is ${state}`,
  isOfKind: () => true,
  satisfies: (found) => found.length === 1 && publicKeyIn(found[0]) === publicKeyIn(value),
})

/** RFC 9989: any policy will do. */
export const dmarcRecord = (domain: string): NeededRecord => ({
  purpose: 'DMARC',
  type: 'TXT',
  name: `_dmarc.${domain}`,
  value: `v=DMARC1; p=none; rua=mailto:postmaster@${domain}`,
  note: 'p=none reports only: ask for quarantine or reject once the reports are good',
  isOfKind: (found) => /^v=DMARC1\s*(?:;|$)/.test(found),
  satisfies: ([record = '', ...others]) =>
    others.length === 0 && /;\s*p\s*=\s*(?:none|quarantine|reject)\s*(?:;|$)/i.test(record),
})

const isPublicName = (host: string): boolean => isIP(host) === 0 && host.includes('.')

/** The mechanism may say `+`, which it means without. */
const allows = (record: string, mechanism: string): boolean =>
  record
    .toLowerCase()
    .split(/ +/)
    .some((word) => word.replace(/^\+/, '') === mechanism.toLowerCase())

/** `p=` of a record whose other tags let it be used for rsa-sha256; undefined for any other. */
function publicKeyIn(record: string | undefined): string | undefined {
  const tags = new Map(
    (record ?? '').split(';').map((tag): [string, string] => {
      const [name = '', ...value] = tag.split('=')
      return [name.trim(), value.join('=').replaceAll(/\s/g, '')]
    }),
  )
  const usable =
    (tags.get('v') ?? 'DKIM1') === 'DKIM1' &&
    (tags.get('k') ?? 'rsa') === 'rsa' &&
    (tags.get('h') ?? 'sha256').split(':').includes('sha256')
  const key = tags.get('p') ?? ''
  return usable && key !== '' ? key : undefined
}
