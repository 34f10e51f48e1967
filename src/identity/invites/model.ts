import type { Role } from '#base/actor.ts'

export const INVITE_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000

export function onboardingUrl(siteBaseUrl: string, role: Role | null, token: string): string {
  const page = role === 'super-admin' ? 'super-admin' : 'user'
  return `${siteBaseUrl}/admin/public/onboarding/${page}?token=${token}`
}
