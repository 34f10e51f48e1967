import { Type } from '@sinclair/typebox'

/** What `/data/auth` answers with. */
export const ok = <Data>(data: Data) => ({ ok: true as const, data })

export const Ok = <Data extends ReturnType<typeof Type.Object>>(data: Data) =>
  Type.Object({ ok: Type.Literal(true), data })
