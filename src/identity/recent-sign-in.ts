import { AppError } from '#base/app-error.ts'

const RECENT_MS = 15 * 60_000

const isRecentSignIn = ({ authTime }: { readonly authTime: Date }, now: Date): boolean =>
  now.getTime() - authTime.getTime() <= RECENT_MS

/** Changing the ways to sign in takes a recent sign-in, because a token alone may be stolen. */
export function requireRecentSignIn(signIn: { readonly authTime: Date }, now: Date): void {
  if (isRecentSignIn(signIn, now)) return
  throw new AppError(
    'RecentSignInRequired',
    'This needs a sign-in of the last 15 minutes: sign in again (max_age or prompt=login), then retry',
  )
}
