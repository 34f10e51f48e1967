import type { AuthorizationParameters } from '#identity/authorization/authorization-parameters.ts'

import { type ParameterCheck, invalidRequestError, authorizationError } from './check.ts'

/** `COGNITO` is Cognito's own name for signing in with an account of the pool itself. */
const OWN = 'COGNITO'

export const knownProvider: ParameterCheck = ({ values, pool, client }) => {
  const provider = values.get('identity_provider') ?? OWN
  if (provider !== OWN && provider !== 'Google') {
    return invalidRequestError('identity_provider takes "Google"')
  }
  if (provider === 'Google' && !pool.google?.enabled) {
    return invalidRequestError('identity_provider "Google" is not set up here')
  }
  return client?.purpose === 'link' && provider === OWN
    ? authorizationError('unauthorized_client', 'The client exists for linking a provider only')
    : undefined
}

export const providerOf = ({ values }: AuthorizationParameters): 'Google' | undefined =>
  values.get('identity_provider') === 'Google' ? 'Google' : undefined
