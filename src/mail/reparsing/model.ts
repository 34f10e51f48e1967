import { type Static, Type } from '@sinclair/typebox'

/** How far the messages of a site are parsed and indexed as this version does it. Each counts once, whatever mailboxes it is in. */
export const ReparseProgress = Type.Object({
  /** Messages that were received or sent and were parsed. */
  messages: Type.Integer(),
  /** Those of them that an earlier version parsed. */
  left: Type.Integer(),
  /** Those that this version could not parse: they show what an earlier one made of them. */
  failed: Type.Integer(),
})
export type ReparseProgress = Static<typeof ReparseProgress>
