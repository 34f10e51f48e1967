import type { Role } from '#base/actor.ts'
import type { SecurityEventRecord } from '#identity/security-events/model.ts'

/** What an account's page shows of it, beside its sign-ins. */
export interface SelfServiceAccount {
  readonly sub: string
  readonly email: string
  readonly emailVerified: boolean
  readonly name: string | null
  /** Null for visitors. */
  readonly role: Role | null
  readonly createdAt: Date
  readonly hasPassword: boolean
  readonly google: LinkedProvider | undefined
}

export interface LinkedProvider {
  /** At the provider, as far as it is known. */
  readonly email: string | null
  readonly linkedAt: Date
}

/** Everything that is kept about an account, for its owner to take away. No secret is in it. */
export interface AccountExport {
  readonly account: {
    readonly sub: string
    readonly email: string
    readonly emailVerified: boolean
    readonly externalEmail: string | null
    readonly name: string | null
    readonly settings: unknown
    readonly role: string | null
    readonly createdAt: Date
    readonly updatedAt: Date
  }
  readonly signInMethods: {
    readonly password: { readonly changedAt: Date } | null
    readonly authenticatorApp: { readonly addedAt: Date; readonly recoveryCodesLeft: number } | null
    readonly passkeys: readonly {
      readonly name: string
      readonly createdAt: Date
      readonly lastUsedAt: Date | null
    }[]
    readonly providers: readonly {
      readonly provider: string
      readonly issuer: string
      readonly subject: string
      readonly email: string | null
      readonly linkedAt: Date
    }[]
  }
  /** Those of others that were let in. */
  readonly applications: readonly {
    readonly clientId: string
    readonly scope: string
    readonly grantedAt: Date
  }[]
  readonly groups: readonly { readonly groupName: string; readonly addedAt: Date }[]
  readonly addressChanges: readonly {
    readonly oldEmail: string
    readonly newEmail: string
    readonly createdAt: Date
    readonly provenAt: Date | null
  }[]
  readonly signIns: readonly {
    readonly method: string | null
    readonly userAgent: string
    readonly address: string
    readonly createdAt: Date
    readonly lastSeenAt: Date
    readonly expiresAt: Date
  }[]
  /** What happened to the account: the newest, at most 1000. */
  readonly events: readonly AccountEvent[]
}

/** Of events that others caused, the origin is private to them. */
export type AccountEvent = Pick<
  SecurityEventRecord,
  'at' | 'event' | 'address' | 'userAgent' | 'detail'
>

export const MAX_NAME_LENGTH = 100
