import {
  type AuthorizationParameters,
  wordsOfParameter,
} from '#identity/authorization/authorization-parameters.ts'
import { PROMPTS, type Prompt } from '#identity/authorization/authorization-request.ts'

import { type ParameterCheck, authorizationError, invalidRequestError } from './check.ts'

export const knownPrompt: ParameterCheck = (asked) => {
  const words = new Set(wordsOfParameter(asked, 'prompt'))
  const known: readonly string[] = PROMPTS
  if ([...words].some((word) => !known.includes(word))) {
    return invalidRequestError(`prompt takes ${PROMPTS.join(', ')}`)
  }
  return words.has('none') && words.size > 1
    ? invalidRequestError('prompt "none" stands alone')
    : undefined
}

export function promptsOf(asked: AuthorizationParameters): ReadonlySet<Prompt> {
  const words = wordsOfParameter(asked, 'prompt')
  return new Set(PROMPTS.filter((prompt) => words.includes(prompt)))
}

const SECONDS = /^\d{1,10}$/

export const wholeMaxAge: ParameterCheck = ({ values }) =>
  SECONDS.test(values.get('max_age') ?? '0')
    ? undefined
    : invalidRequestError('max_age is a number of seconds')

export function maxAgeOf({ values }: AuthorizationParameters): number | undefined {
  const seconds = values.get('max_age')
  return seconds === undefined ? undefined : Number(seconds)
}

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
