import { AppError } from '#base/app-error.ts'

const RECENT_MS = 15 * 60_000

/** What changes how one gets into an account takes somebody who has just got into it: a token alone may be stolen. */
export function requireRecentSignIn({ authTime }: { readonly authTime: Date }, now: Date): void {
  if (now.getTime() - authTime.getTime() <= RECENT_MS) return
  throw new AppError(
    'RecentSignInRequired',
    'This needs a sign-in of the last 15 minutes: sign in again (max_age or prompt=login), then try once more',
  )
}
