import { type Static, Type } from '@sinclair/typebox'

import { ClosedObject } from '#base/closed-object.ts'

/** What a repository says of the files that were deployed from it. */
export const GitState = ClosedObject({
  commit: Type.String({
    pattern: '^(?:[0-9a-f]{40}|[0-9a-f]{64})$',
    description: 'the id of the commit, in full',
  }),
  /** Null when no branch is checked out. */
  branch: Type.Union([
    Type.String({ maxLength: 250, pattern: '^[^\\u0000-\\u001f\\u007f]+$' }),
    Type.Null(),
  ]),
  /** Whether the folder had changes that no commit holds. */
  dirty: Type.Boolean(),
})
export type GitState = Static<typeof GitState>
