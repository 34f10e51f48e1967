import { type Static, Type } from '@sinclair/typebox'

import type { LookedUpType } from './lookup.ts'

const RecordState = Type.Union([
  Type.Literal('present'),
  Type.Literal('missing'),
  Type.Literal('different'),
  Type.Literal('unknown'),
])

/** A record that a site needs, for its mail or for a name of its own, and what DNS has in its place. */
export const SiteDnsRecord = Type.Object({
  purpose: Type.Union([
    Type.Literal('receiving'),
    Type.Literal('SPF'),
    Type.Literal('DKIM'),
    Type.Literal('DMARC'),
    Type.Literal('administration'),
    Type.Literal('sign-in'),
    Type.Literal('former sign-in'),
  ]),
  type: Type.Union([Type.Literal('MX'), Type.Literal('TXT'), Type.Literal('CNAME')]),
  name: Type.String(),
  value: Type.String(),
  /** A line of a zone file. */
  zone: Type.String(),
  /** `unknown` when DNS did not answer in time, or what it says cannot be compared. */
  state: RecordState,
  /** What DNS has of this kind at that name: at most 10, each cut at 500 characters. */
  found: Type.Array(Type.String()),
  /** What an operator has to know of it. */
  note: Type.Union([Type.String(), Type.Null()]),
})
export type SiteDnsRecord = Static<typeof SiteDnsRecord>

export const SiteDns = Type.Object(
  {
    siteId: Type.String(),
    domain: Type.String(),
    records: Type.Array(SiteDnsRecord),
  },
  { title: 'SiteDns' },
)
export type SiteDns = Static<typeof SiteDns>

/** A record before DNS is asked. */
export interface NeededRecord extends Pick<
  SiteDnsRecord,
  'purpose' | 'type' | 'name' | 'value' | 'note'
> {
  /** What DNS is asked for; the record's own type when left out. */
  readonly asked?: readonly LookedUpType[]
  /** Whether what DNS has at that name counts here at all: other texts may be beside it. */
  readonly isOfKind: (found: string) => boolean
  /** Whether those of this kind do what is needed; undefined where that cannot be known. */
  readonly satisfies: (found: readonly string[]) => boolean | undefined
}
