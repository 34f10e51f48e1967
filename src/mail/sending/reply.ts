import { canonicalLocalPart, withoutPlusPart } from '#mail/addresses/local-part.ts'
import { boundedReferences } from '#mail/headers/mail-headers.ts'

import { type Addressee, type Addressees, addresseeOf } from './addressees.ts'

/** What an answer takes from the message that it answers. */
export interface AnsweredMessage {
  readonly folder: string
  readonly from: string
  /** All of them, where there are several. */
  readonly authors?: readonly string[]
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly replyTo: readonly string[]
  readonly subject: string
  /** Message-ID without its brackets. */
  readonly headerId: string | null
  readonly references: readonly string[]
}

/** The recipients of a reply; never one of `own`, the addresses of the mailbox that replies. */
export function answerAddressees(
  parent: AnsweredMessage,
  { own, replyAll }: { readonly own: readonly string[]; readonly replyAll: boolean },
): Addressees {
  const ours = new Set(own.map(canonicalAddress))
  const seen = new Set<string>()
  const others = (texts: readonly string[]): Addressee[] =>
    texts.flatMap((text) => {
      const addressee = addresseeOf(text)
      if (!addressee) return []
      const canonical = canonicalAddress(addressee.address)
      if (ours.has(canonical) || seen.has(canonical)) return []
      seen.add(canonical)
      return [addressee]
    })
  const authors = parent.authors ?? [parent.from]
  // An answer to a message of one's own goes to the same people again.
  const isOwn = authors.every((one) => ours.has(canonicalAddress(addresseeOf(one)?.address ?? '')))
  // A Reply-To without an address says nothing; without one, RFC 5322 §3.6.3 names all authors.
  const to = others(isOwn ? parent.to : parent.replyTo.some(addresseeOf) ? parent.replyTo : authors)
  return {
    to,
    cc: replyAll ? others(isOwn ? parent.cc : [...parent.to, ...parent.cc]) : [],
    bcc: [],
  }
}

/** `Re: ` once, whatever the mail programs on the way wrote before. */
export const answerSubject = (subject: string): string =>
  `Re: ${subject.replace(/^(?:\s*(?:re|aw|sv|antw)(?:\[\d{1,3}\])?\s*:\s*)+/i, '')}`.trimEnd()

/** RFC 5322 §3.6.4. */
export function answerThreading({
  headerId,
  references,
}: Pick<AnsweredMessage, 'headerId' | 'references'>): {
  readonly inReplyTo: string | null
  readonly references: readonly string[]
} {
  if (headerId === null) return { inReplyTo: null, references: [] }
  const all = [...references.filter((id) => id !== headerId), headerId]
  return { inReplyTo: headerId, references: boundedReferences(all) }
}

/** One spelling for all addresses that reach the same mailbox. */
function canonicalAddress(address: string): string {
  const at = address.lastIndexOf('@')
  const localPart = canonicalLocalPart(address.slice(0, Math.max(at, 0)))
  return `${withoutPlusPart(localPart) ?? localPart}@${address.slice(at + 1).toLowerCase()}`
}
