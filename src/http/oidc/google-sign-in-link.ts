import { googleButton } from './pages/google-button.ts'
import type { Html } from './pages/html.ts'
import type { InteractionRequest } from './sign-in-form.ts'

/** Google's sign-in for the same request, where the site has it. */
export function googleSignInLink({ pool, pathTo }: InteractionRequest): Html | undefined {
  if (!pool.google?.enabled) return undefined
  const url = new URL(pathTo('oauth2/authorize'), pool.issuer)
  url.searchParams.set('identity_provider', 'Google')
  return googleButton(`${url.pathname}${url.search}`)
}
