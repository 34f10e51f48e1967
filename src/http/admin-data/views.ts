import { Type } from '@sinclair/typebox'

export const PermissionsSyncView = Type.Object({
  status: Type.Union([
    Type.Literal('queued'),
    Type.Literal('running'),
    Type.Literal('succeeded'),
    Type.Literal('failed'),
  ]),
  /** Why it failed. */
  error: Type.Optional(Type.String()),
})

export const Done = Type.Object({ ok: Type.Literal(true) })

/** A name in a path or query: PostgreSQL takes no NUL. */
export const NameText = Type.String({
  maxLength: 128,
  pattern: '^[^\\u0000]*$',
  fault: 'must be at most 128 characters, none of them NUL',
})
