import { type Static, type TObject, Type } from '@sinclair/typebox'

export const MaybeText = Type.Union([Type.String(), Type.Null()])
export const MaybeTime = Type.Union([Type.Date(), Type.Null()])

export const PermissionsSyncView = Type.Object(
  {
    status: Type.Union([
      Type.Literal('queued'),
      Type.Literal('running'),
      Type.Literal('succeeded'),
      Type.Literal('failed'),
    ]),
    /** Why it failed. */
    error: Type.Optional(Type.String()),
  },
  { title: 'PermissionsSync' },
)

export const Done = Type.Object({ ok: Type.Literal(true) })

/** The answer to a request that leaves nothing to say. */
export async function done(work: Promise<unknown>): Promise<Static<typeof Done>> {
  await work
  return { ok: true }
}

/** Takes from an object what a view names, and nothing else of it; what a field holds is taken whole. */
export function viewOf<View extends TObject>(view: View, source: Static<View>): Static<View> {
  const names = Object.keys(view.properties).filter((name) => Object.hasOwn(source, name))
  return Object.fromEntries(names.map((name) => [name, source[name]])) as Static<View>
}
