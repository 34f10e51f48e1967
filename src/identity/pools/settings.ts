import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { ONE_LINE } from '#base/one-line-text.ts'

const closed = { additionalProperties: false }

const MAX_IDLE_MINUTES = 30 * 24 * 60

/** What a new password must have; its length is 8 to 256 characters in any case. */
export const PasswordPolicy = Type.Object({
  minimumLength: Type.Integer({ minimum: 8, maximum: 128 }),
  requireUppercase: Type.Boolean(),
  requireLowercase: Type.Boolean(),
  requireNumbers: Type.Boolean(),
  requireSymbols: Type.Boolean(),
})
export type PasswordPolicy = Static<typeof PasswordPolicy>

const MAX_SCOPES = 50
const MAX_DESCRIPTION = 200

/** RFC 6749 section 3.3, and short enough for many of them in a request. */
const Scopes = Type.Record(
  Type.String({ pattern: '^[a-zA-Z][a-zA-Z0-9._:/-]{0,63}$' }),
  Type.String({
    minLength: 1,
    maxLength: MAX_DESCRIPTION,
    pattern: ONE_LINE,
    fault: `must be a text of 1 to ${MAX_DESCRIPTION} characters, like "See your orders"`,
  }),
  {
    additionalProperties: false,
    maxProperties: MAX_SCOPES,
    fault: `takes ${MAX_SCOPES} names like "orders:read" of 64 letters, digits, ".", "_", ":", "/" and "-"`,
  },
)

/** What the operator decides about a pool. */
export const PoolSettings = Type.Object({
  passwordPolicy: PasswordPolicy,
  /** Whether strangers may sign up. Never in the admin pool. */
  selfSignUp: Type.Boolean(),
  /** Whether a Google sign-in joins the account with the same address, when both sides have verified it. */
  linkVerifiedAddresses: Type.Boolean(),
  /** A sign-in that is not used for so long has ended. It lasts 30 days in any case, so the most means never earlier. */
  sessionIdleMinutes: Type.Integer({ minimum: 5, maximum: MAX_IDLE_MINUTES }),
  /** So many browsers, and so many clients without one, are signed in to an account: a new one ends the one used longest ago. */
  maxSessions: Type.Integer({ minimum: 1, maximum: 100 }),
  /** Whether signing in with a password takes an authenticator app: who has none sets one up on the way. */
  requireSecondFactor: Type.Boolean(),
  /** What applications may ask for beside the standard scopes, and how the pages describe it. Data pool only. */
  scopes: Scopes,
})
export type PoolSettings = Static<typeof PoolSettings>

/** What is left out stays. */
export const PoolSettingsInput = Type.Object(
  {
    passwordPolicy: Type.Optional(Type.Partial(PasswordPolicy, closed)),
    selfSignUp: Type.Optional(Type.Boolean()),
    linkVerifiedAddresses: Type.Optional(Type.Boolean()),
    sessionIdleMinutes: Type.Optional(PoolSettings.properties.sessionIdleMinutes),
    maxSessions: Type.Optional(PoolSettings.properties.maxSessions),
    requireSecondFactor: Type.Optional(Type.Boolean()),
    /** A list takes the place of the former one. */
    scopes: Type.Optional(Scopes),
  },
  closed,
)
export type PoolSettingsInput = Static<typeof PoolSettingsInput>

const DEFAULTS: PoolSettings = {
  passwordPolicy: {
    minimumLength: 8,
    requireUppercase: true,
    requireLowercase: true,
    requireNumbers: true,
    requireSymbols: true,
  },
  selfSignUp: true,
  linkVerifiedAddresses: false,
  sessionIdleMinutes: MAX_IDLE_MINUTES,
  maxSessions: 50,
  requireSecondFactor: false,
  scopes: {},
}

/** Eight hours: a working day. */
const ADMIN_IDLE_MINUTES = 8 * 60

/** What is stored after a change: only explicit settings, so that the rest follows the defaults. */
export const mergedInput = (
  stored: PoolSettingsInput,
  { passwordPolicy, ...input }: PoolSettingsInput,
): PoolSettingsInput => ({
  ...stored,
  ...input,
  ...(passwordPolicy && { passwordPolicy: { ...stored.passwordPolicy, ...passwordPolicy } }),
})

/** The settings that differ, by name, with their new values. */
export function differences(
  before: PoolSettings,
  after: PoolSettings,
): Record<string, string | number | boolean> {
  const was = flat(before)
  return Object.fromEntries(
    Object.entries(flat(after)).filter(([name, value]) => was[name] !== value),
  )
}

const flat = ({
  passwordPolicy,
  scopes,
  ...rest
}: PoolSettings): Record<string, string | number | boolean> => ({
  ...rest,
  scopes: Object.keys(scopes).join(' '),
  ...Object.fromEntries(
    Object.entries(passwordPolicy).map(([name, value]) => [`passwordPolicy.${name}`, value]),
  ),
})

const changedSettings = (
  current: PoolSettings,
  { passwordPolicy, ...input }: PoolSettingsInput,
): PoolSettings => ({
  ...current,
  ...input,
  passwordPolicy: { ...current.passwordPolicy, ...passwordPolicy },
})

/** Settings as the database keeps them, with the defaults for what it does not name. */
export function storedPoolSettings(kind: 'admin' | 'data', stored: unknown): PoolSettings {
  const input = Value.Parse(PoolSettingsInput, stored)
  if (kind === 'data') return changedSettings(DEFAULTS, input)
  const settings = changedSettings({ ...DEFAULTS, sessionIdleMinutes: ADMIN_IDLE_MINUTES }, input)
  return { ...settings, selfSignUp: false, linkVerifiedAddresses: false, scopes: {} }
}
