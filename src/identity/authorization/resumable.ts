import type { Session } from '#identity/sessions/model.ts'

import type { AuthorizationRequest } from './authorization-request.ts'

type ResumableRequest = Pick<
  AuthorizationRequest,
  'prompts' | 'maxAgeSeconds' | 'identityProvider' | 'client'
>

/** Whether a request can be answered from a session at all. Linking a provider never is: it is about a visit there. */
export const mayUseSession = ({
  prompts,
  client,
}: Pick<ResumableRequest, 'prompts' | 'client'>): boolean =>
  client.purpose === 'default' && !prompts.has('login') && !prompts.has('select_account')

/** Whether the session says enough: recent enough, and proven where the client wants it proven. */
export function sessionSatisfies(
  session: Pick<Session, 'authTime' | 'method'>,
  { maxAgeSeconds, identityProvider }: Pick<ResumableRequest, 'maxAgeSeconds' | 'identityProvider'>,
  now: Date,
): boolean {
  const ageMs = now.getTime() - session.authTime.getTime()
  if (maxAgeSeconds !== undefined && (maxAgeSeconds === 0 || ageMs > maxAgeSeconds * 1000)) {
    return false
  }
  return identityProvider === undefined || session.method === 'google'
}
