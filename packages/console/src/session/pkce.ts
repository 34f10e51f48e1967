/** 256 random bits as base64url. */
export const randomText = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)))

/** RFC 7636 section 4.2, method S256. */
export const challengeOf = async (verifier: string): Promise<string> =>
  base64url(
    new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))),
  )

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCodePoint(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
