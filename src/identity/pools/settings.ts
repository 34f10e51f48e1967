import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const closed = { additionalProperties: false }

/** What a new password must have; its length is 8 to 256 characters in any case. */
export const PasswordPolicy = Type.Object({
  minimumLength: Type.Integer({ minimum: 8, maximum: 128 }),
  requireUppercase: Type.Boolean(),
  requireLowercase: Type.Boolean(),
  requireNumbers: Type.Boolean(),
  requireSymbols: Type.Boolean(),
})
export type PasswordPolicy = Static<typeof PasswordPolicy>

/** What the operator decides about a pool. */
export const PoolSettings = Type.Object({
  passwordPolicy: PasswordPolicy,
  /** Whether strangers may sign up. Never in the admin pool. */
  selfSignUp: Type.Boolean(),
  /** Whether a Google sign-in joins the account with the same address, when both sides have verified it. */
  linkVerifiedAddresses: Type.Boolean(),
})
export type PoolSettings = Static<typeof PoolSettings>

/** What is left out stays. */
export const PoolSettingsInput = Type.Object(
  {
    passwordPolicy: Type.Optional(Type.Partial(PasswordPolicy, closed)),
    selfSignUp: Type.Optional(Type.Boolean()),
    linkVerifiedAddresses: Type.Optional(Type.Boolean()),
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
}

/** What is stored after a change: only what somebody decided, so that the rest follows the defaults. */
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
): Record<string, number | boolean> {
  const was = flat(before)
  return Object.fromEntries(
    Object.entries(flat(after)).filter(([name, value]) => was[name] !== value),
  )
}

const flat = ({ passwordPolicy, ...rest }: PoolSettings): Record<string, number | boolean> => ({
  ...rest,
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
  const settings = changedSettings(DEFAULTS, Value.Parse(PoolSettingsInput, stored))
  return kind === 'admin'
    ? { ...settings, selfSignUp: false, linkVerifiedAddresses: false }
    : settings
}
