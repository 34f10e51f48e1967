import { randomBytes, randomUUID } from 'node:crypto'

const LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789'
const MIXED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Where names for new things come from, so that a test can set them. */
export interface Ids {
  siteId(): string
  /** `{region}_{9 alphanumerics}`, as Cognito names a user pool. */
  userPoolId(region: string): string
  /** 26 lowercase alphanumerics, as Cognito names an app client. */
  clientId(): string
  /** A UUID: users' `sub`, ids of tokens and requests. Random: a count would show a site the traffic of others. */
  uuid(): string
  /** Prefixed, 16 lowercase alphanumerics: `res_…`, `dep_…`. */
  named(prefix: string): string
  /** 256 bits for a link or key, base64url. */
  secret(): string
}

export const randomIds: Ids = {
  siteId: () => `site_${pick(LOWER, 12)}`,
  userPoolId: (region) => `${region}_${pick(MIXED, 9)}`,
  clientId: () => pick(LOWER, 26),
  uuid: () => randomUUID(),
  named: (prefix) => `${prefix}_${pick(LOWER, 16)}`,
  secret: () => randomBytes(32).toString('base64url'),
}

/** Rejection sampling: every letter is equally likely. */
function pick(alphabet: string, length: number): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < limit && text.length < length) text += alphabet.charAt(byte % alphabet.length)
    }
  }
  return text
}
