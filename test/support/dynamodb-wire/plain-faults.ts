import { AppError } from '#base/app-error.ts'

import type { ItemCodec } from './codec.ts'

/** Does some work on the tables; the items that its failure shows come back in the caller's form. */
export async function withFaultsIn<Result>(
  codec: ItemCodec,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { item, reasons } = error.fields ?? {}
    if (item === undefined && !Array.isArray(reasons)) throw error
    throw new AppError(error.code, error.message, {
      fields: Array.isArray(reasons)
        ? { reasons: reasons.map((reason: object) => shownIn(codec, reason)) }
        : { item: codec.fromPlain(item) },
    })
  }
}

const shownIn = (codec: ItemCodec, reason: { readonly item?: unknown }): object =>
  reason.item === undefined ? reason : { ...reason, item: codec.fromPlain(reason.item) }
