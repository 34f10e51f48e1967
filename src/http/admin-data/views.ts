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
