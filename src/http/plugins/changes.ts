import type { SecurityEventName } from '#identity/security-events/model.ts'

import { type EffectsDetail, type RouteEffects, effectsDetail } from './effects.ts'

/** Why a route that changes something, or may, writes no entry to the audit trail. */
export const UNRECORDED = {
  call: 'Runs what the site itself made callable, as its visitors do all day.',
  content: 'Changes items, objects or mail: what the site holds, not who may do what.',
  job: 'Starts a job, which records what it changes.',
  derived: 'Makes again what follows from changes that are recorded.',
  page: 'A step of a sign-in, or of an account’s own page: each records what it ends in (`sign-in.*`, `code.*`, `password.*`, …).',
  query: 'Changes nothing: the method carries the question.',
  staging: 'Stores what nothing uses before a later request, which is recorded.',
  removal: 'Removes the site together with its trail.',
} as const
type UnrecordedReason = keyof typeof UNRECORDED

/** What a route that changes something declares beside its authority. */
export interface RouteChanges {
  /** What the audit trail says of it; some of these where it does several things. Or why it says nothing. */
  readonly audit: readonly [SecurityEventName, ...SecurityEventName[]] | UnrecordedReason
  /** What it does that outlasts a token. */
  readonly effects: RouteEffects
}

export interface ChangesDetail extends EffectsDetail {
  readonly 'x-audit': RouteChanges['audit']
}

/** Marks a route in the table. For a route that admits its callers itself; the others name `changes` beside their authority. */
export const changesDetail = ({ audit, effects }: RouteChanges): ChangesDetail => ({
  'x-audit': audit,
  ...effectsDetail(effects),
})
