import type { Asked } from '#identity/authorization/asked.ts'

import { type Check, invalidRequest, refused } from './check.ts'

/** `COGNITO` is Cognito's own name for signing in with an account of the pool itself. */
const OWN = 'COGNITO'

export const knownProvider: Check = ({ values, pool, client }) => {
  const provider = values.get('identity_provider') ?? OWN
  if (provider !== OWN && provider !== 'Google') {
    return invalidRequest('identity_provider takes "Google"')
  }
  if (provider === 'Google' && !pool.google?.enabled) {
    return invalidRequest('identity_provider "Google" is not set up here')
  }
  return client?.purpose === 'link' && provider === OWN
    ? refused('unauthorized_client', 'The client exists for linking a provider only')
    : undefined
}

export const providerOf = ({ values }: Asked): 'Google' | undefined =>
  values.get('identity_provider') === 'Google' ? 'Google' : undefined
