import { createHash } from 'node:crypto'

import type { Role } from '#identity/actor.ts'

export const INVITE_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000

/** The only form in which an invite's token is stored. */
export const hashInvite = (token: string): Buffer => createHash('sha256').update(token).digest()

export function onboardingUrl(siteBaseUrl: string, role: Role | null, token: string): string {
  const page = role === 'super-admin' ? 'super-admin' : 'user'
  return `${siteBaseUrl}/admin/public/onboarding/${page}?token=${token}`
}
