import { AppError } from '#base/app-error.ts'
import type { PublishedOperation } from '#runtime/published/published-site.ts'

/** A visitor whose token was verified. */
export interface Caller {
  readonly sub: string
  readonly groups: readonly string[]
  /** JSON text of `{ sub, username, groups }`, as the function sees it. */
  readonly authText: string
}

/** Throws unless the caller may call the operation on the route it came by. */
export function admit(
  { name, auth, groups }: PublishedOperation,
  by: { readonly publicRoute: boolean; readonly visitor: Caller | null },
): void {
  if (by.publicRoute) {
    if (auth.mode === 'public') return
    throw new AppError(
      'Unauthorized',
      `Operation "${name}" is not public: call /data/${name} with an access token`,
    )
  }
  if (!by.visitor) throw new AppError('Unauthorized', 'This route needs an access token')
  if (auth.mode === 'groups' && !by.visitor.groups.some((group) => groups.has(group))) {
    throw new AppError('Forbidden', `Operation "${name}" is for members of certain groups only`)
  }
}
