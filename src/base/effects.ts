/**
 * What a request does that outlasts the token it came with. Each takes a sign-in of the last 15 minutes, since a token alone may be
 * stolen: `setsSecret` makes, changes or clears a secret; `movesMail` changes who gets mail or sends it (forwarding, owners, aliases,
 * passwords of mail programs); `movesAccount` changes whose an account is, how it signs in, or its role; `changesAuthMail` changes what
 * mail about accounts says; `deletesPeople` deletes accounts.
 */
export const EFFECTS = [
  'setsSecret',
  'movesMail',
  'movesAccount',
  'changesAuthMail',
  'deletesPeople',
] as const
export type Effect = (typeof EFFECTS)[number]

/** Called by a service before it has the effect. Throws 403 `RecentSignInRequired` for a caller whose sign-in is older. */
export type StepUp = (effect: Effect) => void

/** For the operator key and deploy tokens: they come from no sign-in, and their scope is what they may do. */
export const noStepUp: StepUp = () => undefined
