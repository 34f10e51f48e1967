/** Who calls an operation, as an access token of the site's data pool says. */
export interface Visitor {
  readonly sub: string
  readonly username: string
  readonly groups: readonly string[]
  /** JSON text of `{ sub, username, groups }`, built once per token: what the sandbox is given as `auth`. */
  readonly authText: string
}

export function visitorOf(sub: string, username: string, groups: readonly string[]): Visitor {
  return { sub, username, groups, authText: JSON.stringify({ sub, username, groups }) }
}
