import { GOOGLE_ISSUER } from './model.ts'

/** How the client wants its user to be asked. */
export interface PromptOptions {
  readonly prompts: readonly string[]
  readonly maxAgeSeconds: number | undefined
  readonly loginHint: string | undefined
}

/**
 * The wishes as parameters for the provider. Google knows neither `prompt=login` nor `max_age`; asking which account it
 * is to be is the nearest that it has.
 */
export function promptParameters(
  issuer: string,
  { prompts, maxAgeSeconds, loginHint }: PromptOptions,
): Readonly<Record<string, string>> {
  const isGoogle = issuer === GOOGLE_ISSUER
  const asked = prompts.map((prompt) =>
    isGoogle && prompt === 'login' ? 'select_account' : prompt,
  )
  return {
    ...(asked.length > 0 && { prompt: [...new Set(asked)].join(' ') }),
    ...(maxAgeSeconds !== undefined && !isGoogle && { max_age: String(maxAgeSeconds) }),
    ...(loginHint !== undefined && { login_hint: loginHint }),
  }
}
