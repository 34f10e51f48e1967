import { GOOGLE_ISSUER } from './model.ts'

/** How the client wants its user to be prompted. */
export interface PromptOptions {
  readonly prompts: readonly string[]
  readonly maxAgeSeconds: number | undefined
  readonly loginHint: string | undefined
}

/**
 * The parameters for the provider. Google supports neither `prompt=login` nor `max_age`: its account chooser is the nearest
 * to both.
 */
export function promptParameters(
  issuer: string,
  { prompts, maxAgeSeconds, loginHint }: PromptOptions,
): Readonly<Record<string, string>> {
  const isGoogle = issuer === GOOGLE_ISSUER
  const asked = isGoogle && maxAgeSeconds !== undefined ? [...prompts, 'login'] : prompts
  const supported = asked.map((prompt) =>
    isGoogle && prompt === 'login' ? 'select_account' : prompt,
  )
  return {
    ...(supported.length > 0 && { prompt: [...new Set(supported)].join(' ') }),
    ...(maxAgeSeconds !== undefined && !isGoogle && { max_age: String(maxAgeSeconds) }),
    ...(loginHint !== undefined && { login_hint: loginHint }),
  }
}
