import { type Static, Type } from '@sinclair/typebox'

import type { NewKeyPair } from '#identity/keys/key-pair.ts'

const DAY_MS = 24 * 3_600_000

/** How long the record of a key stays after another signs: longer than gateways try to deliver what it signed. */
export const RETIRING_MS = 7 * DAY_MS

/** Keys of one site that are not retired at once. */
export const MAX_DKIM_KEYS = 16

const OrNever = Type.Union([Type.Date(), Type.Null()])

/**
 * `pending` until it is activated, `active` while it signs, `retiring` while its record must stay, then `retired`: its
 * record may be removed.
 */
const DkimKeyState = Type.Union([
  Type.Literal('pending'),
  Type.Literal('active'),
  Type.Literal('retiring'),
  Type.Literal('retired'),
])
type DkimKeyState = Static<typeof DkimKeyState>

/** A key as it is shown: all of it but its private half. */
export const DkimKey = Type.Object(
  {
    selector: Type.String(),
    state: DkimKeyState,
    /** The TXT record that publishes it: its name, and what it says. */
    name: Type.String(),
    value: Type.String(),
    createdAt: Type.Date(),
    activatedAt: OrNever,
    /** Another key signs since then. */
    supersededAt: OrNever,
    /** Its record may be removed from then on. */
    retiredAt: OrNever,
  },
  { title: 'DkimKey' },
)
export type DkimKey = Static<typeof DkimKey>

export interface StoredDkimKey {
  readonly number: number
  readonly publicKey: string
  readonly createdAt: Date
  readonly activatedAt: Date | null
  readonly supersededAt: Date | null
}

export const selectorOf = (number: number): string => `croft${number}`

export const dkimSealContext = (number: number): string => `dkim-key:${selectorOf(number)}`

export function dkimKeyOf(domain: string, key: StoredDkimKey, now: Date): DkimKey {
  const { createdAt, activatedAt, supersededAt } = key
  const selector = selectorOf(key.number)
  return {
    selector,
    state: stateOf(key, now),
    name: `${selector}._domainkey.${domain}`,
    value: `v=DKIM1; k=rsa; p=${key.publicKey}`,
    createdAt,
    activatedAt,
    supersededAt,
    retiredAt: supersededAt && new Date(supersededAt.getTime() + RETIRING_MS),
  }
}

function stateOf({ activatedAt, supersededAt }: StoredDkimKey, now: Date): DkimKeyState {
  if (activatedAt === null) return 'pending'
  if (supersededAt === null) return 'active'
  return now.getTime() < supersededAt.getTime() + RETIRING_MS ? 'retiring' : 'retired'
}

/** `p=` of the record (RFC 6376 §3.6.1): SubjectPublicKeyInfo in base64. */
export async function dkimPublicKey({ publicJwk }: NewKeyPair): Promise<string> {
  const key = await crypto.subtle.importKey('jwk', { ...publicJwk }, RSA_SHA256, true, ['verify'])
  return Buffer.from(await crypto.subtle.exportKey('spki', key)).toString('base64')
}

const RSA_SHA256 = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const
