import { type Asked, listOf } from '#identity/authorization/asked.ts'
import { PROMPTS, type Prompt } from '#identity/authorization/authorization-request.ts'

import { type Check, invalidRequest } from './check.ts'

export const knownPrompt: Check = (asked) => {
  const words = new Set(listOf(asked, 'prompt'))
  const known: readonly string[] = PROMPTS
  if ([...words].some((word) => !known.includes(word))) {
    return invalidRequest(`prompt takes ${PROMPTS.join(', ')}`)
  }
  return words.has('none') && words.size > 1
    ? invalidRequest('prompt "none" stands alone')
    : undefined
}

export function promptsOf(asked: Asked): ReadonlySet<Prompt> {
  const words = listOf(asked, 'prompt')
  return new Set(PROMPTS.filter((prompt) => words.includes(prompt)))
}
