import { AppError } from '#base/app-error.ts'

const RECENT_MS = 15 * 60_000

/** Changing the ways to sign in takes a recent sign-in, because a token alone may be stolen. */
export function requireRecentSignIn({ authTime }: { readonly authTime: Date }, now: Date): void {
  if (now.getTime() - authTime.getTime() <= RECENT_MS) return
  throw new AppError(
    'RecentSignInRequired',
    'This needs a sign-in of the last 15 minutes: sign in again (max_age or prompt=login), then try once more',
  )
}
