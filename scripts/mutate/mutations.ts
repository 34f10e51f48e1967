import type { Mutation } from './mutation.ts'
import { AUTHORITY } from './mutations/authority.ts'
import { DURABILITY } from './mutations/durability.ts'
import { LIMITS } from './mutations/limits.ts'
import { MAIL } from './mutations/mail.ts'
import { NETWORK } from './mutations/network.ts'
import { TENANCY } from './mutations/tenancy.ts'

/** The faults that the tests must always see. */
export const MUTATIONS: readonly Mutation[] = [
  ...DURABILITY,
  ...AUTHORITY,
  ...TENANCY,
  ...NETWORK,
  ...LIMITS,
  ...MAIL,
]
