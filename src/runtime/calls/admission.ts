import { AppError } from '#base/app-error.ts'
import type { Call, CallAuthority, Caller } from '#platform/sandbox-host/call.ts'
import type { PublishedOperation, PublishedSite } from '#runtime/published/published-site.ts'

/** A call, with the operation of the current revision that it was admitted to. */
export interface AdmittedCall {
  readonly call: Call
  readonly site: PublishedSite
  readonly operation: PublishedOperation
}

/** Throws unless the authority of the call opens the operation. A stranger's call came by `/data/public`, or from one that did. */
export function admit(
  { authority, caller }: Pick<Call, 'authority' | 'caller'>,
  operation: PublishedOperation,
): void {
  const { name, auth, groups } = operation
  if (authority === 'system') return
  if (authority === null) {
    if (auth.mode === 'public') return
    throw new AppError(
      'Unauthorized',
      `Operation "${name}" is not public: call /data/${name} with an access token`,
    )
  }
  if (auth.mode === 'groups' && !authority.groups.some((group) => groups.has(group))) {
    throw new AppError('Forbidden', `Operation "${name}" is for members of certain groups only`)
  }
  // What a function calls then is the site's own business.
  if (caller === undefined) checkScopes(authority, operation)
}

/** Whether a call from outside would be admitted. */
export function mayCall(authority: CallAuthority, operation: PublishedOperation): boolean {
  if (authority === null) return operation.auth.mode === 'public'
  try {
    admit({ authority, caller: undefined }, operation)
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** The scopes say what an application may do in its user's name; one of others may nothing that asks for none. */
function checkScopes(
  { scopes: granted, isThirdParty }: Caller,
  operation: PublishedOperation,
): void {
  const { name, scopes } = operation
  if (isThirdParty && scopes.length === 0) {
    throw new AppError('Forbidden', `Operation "${name}" is for the site's own applications only`)
  }
  if (granted === undefined) return
  const missing = scopes.filter((scope) => !granted.has(scope))
  if (missing.length === 0) return
  const named = missing.map((scope) => `"${scope}"`).join(' and ')
  throw new AppError(
    'Forbidden',
    `Operation "${name}" needs an access token with the scope ${named}`,
  )
}
