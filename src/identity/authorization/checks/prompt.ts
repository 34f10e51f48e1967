import {
  type AuthorizationParameters,
  wordsOfParameter,
} from '#identity/authorization/authorization-parameters.ts'
import { PROMPTS, type Prompt } from '#identity/authorization/authorization-request.ts'

import { type ParameterCheck, invalidRequestError } from './check.ts'

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
