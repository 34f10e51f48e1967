import { Secret, TOTP } from 'otpauth'

/** RFC 6238 as every authenticator app has it: SHA-1, six digits, half a minute. */
const PERIOD_SECONDS = 30
const DIGITS = 6
/** RFC 4226 section 4: 160 bits are recommended. */
const SECRET_BYTES = 20
/** Clocks may be off by one step. */
const WINDOW = 1

export const newTotpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32

/** The secret that those bytes are, of which there are enough. */
export const totpSecretOf = (bytes: Buffer): string =>
  new Secret({ buffer: new Uint8Array(bytes.subarray(0, SECRET_BYTES)).buffer }).base32

const totpOf = (
  secret: string,
  names: { readonly issuer?: string; readonly label?: string } = {},
) =>
  new TOTP({
    ...names,
    algorithm: 'SHA1',
    digits: DIGITS,
    period: PERIOD_SECONDS,
    secret: Secret.fromBase32(secret),
  })

/** What an app reads from a QR code: the site and the address are what it shows. */
export const totpUri = (secret: string, names: { issuer: string; label: string }): string =>
  totpOf(secret, names).toString()

/** The time step that the code is of, when it is right and later than `after`. */
export function totpStep(
  secret: string,
  code: string,
  { now, after }: { readonly now: Date; readonly after: number },
): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const timestamp = now.getTime()
  const delta = totpOf(secret).validate({ token: code, timestamp, window: WINDOW })
  if (delta === null) return undefined
  const step = Math.floor(timestamp / 1000 / PERIOD_SECONDS) + delta
  return step > after ? step : undefined
}
