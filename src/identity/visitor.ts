/** Who calls an operation, as an access token of the site's data pool says. */
export interface Visitor {
  readonly sub: string
  readonly username: string
  readonly groups: readonly string[]
  /** JSON text of `{ sub, username, groups }`, built once per token: what the sandbox is given as `auth`. */
  readonly authText: string
  /** What the token was granted; undefined where nothing bounds it: of what the operator mints. */
  readonly scopes?: ReadonlySet<string> | undefined
  /** Whether the token is of an application of others. */
  readonly isThirdParty: boolean
}

export function visitorOf(
  { sub, username, groups }: Pick<Visitor, 'sub' | 'username' | 'groups'>,
  grant: Pick<Visitor, 'scopes' | 'isThirdParty'> = { isThirdParty: false },
): Visitor {
  const authText = JSON.stringify({ sub, username, groups })
  return { sub, username, groups, authText, ...grant }
}
