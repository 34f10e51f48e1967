/** Names an account of a site: `sub` within its pool. */
export interface UserKey {
  readonly userPoolId: string
  readonly sub: string
}
